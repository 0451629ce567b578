// Servers: their list, their pages, and what other pages say of them.

export const servers = {
  title: "Servers",
  about: "The machines your instances run on.",
  empty: "No servers yet. Create one to host your first instance.",
  one: "Server",
  create: "Create server",
  fields: {
    name: "Name",
    nameAbout: "Used as the machine's hostname.",
    nameHint: "1–63 lowercase letters, numbers and hyphens. Can't start or end with a hyphen.",
    status: "Status",
    address: "IP address",
    noAddress: "Not assigned yet",
    lastSeen: "Last seen",
    neverSeen: "Never",
    created: "Created",
    provider: "Provider",
    region: "Region",
    disk: "Free disk space",
    memory: "Free memory",
    size: "Size",
    price: "Price",
    sshKey: "SSH key",
    labels: "Labels",
    id: "ID",
  },
  filters: {
    labels: {
      provider: "Filter by provider",
      region: "Filter by region",
      size: "Filter by size",
      reboot: "Filter by reboot",
    },
    any: { provider: "Any provider", region: "Any region", size: "Any size", reboot: "Reboot needed or not" },
    reboots: { needed: "Reboot needed", none: "No reboot needed" },
  },
  actionsOf: (name: string) => `Actions on ${name}`,
  deleting: "Deleting",
  specs: (cpus: number, memoryGb: number, diskGb: number) =>
    `${cpus} CPU${cpus === 1 ? "" : "s"}, ${memoryGb} GB memory, ${diskGb} GB disk`,
  price: {
    free: "Free",
    here: (month: string, hour: string) => `${month} a month, ${hour} an hour`,
    cheaperElsewhere: (month: string, hour: string, least: string) =>
      `${month} a month, ${hour} an hour (from ${least} in other regions)`,
  },
  offers: {
    chooseProvider: "Choose a provider",
    chooseRegion: "Choose a region",
    none: "None available",
    prices: "Prices are set by the provider and exclude taxes.",
    follows: (provider: string, region: string) =>
      `The machine is created at ${provider}, in ${region}, and is ready for instances in a few minutes.`,
    costs: (price: string) => `Price: ${price}.`,
    regionFirst: "Choose a region to see the sizes available.",
  },
  detail: {
    title: "Details",
    reboot: "Reboot",
    update: "Update",
    edit: "Edit",
    delete: "Delete",
    deleteAgain: "Try deleting again",
    createLike: "Create a server like this one",
  },
  instances: {
    title: "Instances",
    name: "Name",
    status: "Status",
    domain: "Domain",
    version: "Version",
    protection: "Protection",
    empty: "No instances on this server yet.",
    create: "Create instance",
    notActive: "The server must be active.",
  },
  tabs: {
    label: (name: string) => `Parts of ${name}`,
    overview: "Overview",
    metrics: "Metrics",
    history: "History",
  },
  edit: {
    title: (name: string) => `Edit ${name}`,
    save: "Save",
    saved: (name: string) => `Server updated: ${name}`,
  },
  acting: {
    reboot: { title: (name: string) => `Reboot server ${name}`, confirm: "Reboot server" },
    update: { title: (name: string) => `Update server ${name}`, confirm: "Update server" },
  },
  deletion: {
    title: "Delete server",
    titleOf: (name: string) => `Delete server ${name}`,
    about: "You can't undo this.",
    /** Instead of the dry run's sentence. */
    effect: "Deletes the machine with everything on it, and the record",
  },
  chooser: {
    /** In the plural, within sentences. */
    what: "servers",
    none: "No active servers",
  },
  noneActive: {
    title: "No active servers",
    view: "View servers",
    text: "Create one, or wait until yours is ready.",
  },
};
