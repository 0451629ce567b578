// Instances: their list, their page, its actions, and the forms that create and clone them.
import type { ReactNode } from "react";
import type { Backup } from "../../../../shared/api/backups.ts";

export const instances = {
  title: "Instances",
  one: "Instance",
  about: "Odoo instances on your servers, each with its own database, files and domain.",
  empty: "No instances yet.",
  fields: {
    name: "Name",
    nameHint: "A display name. You can change it later.",
    status: "Status",
    url: "URL",
    server: "Server",
    version: "Version",
    edition: "Edition",
    protection: "Protection",
    domain: "Domain",
    databaseName: "Database name",
    adminEmail: "Admin email",
    adminPassword: "Admin password",
    adminPasswordHint: "12–128 characters. Leave empty to generate one, shown once.",
    disk: "Disk space",
    previousDomains: "Redirected here",
    missingModules: "Modules that the ERP's image lacks",
    image: "Image",
    diskQuota: "Disk quota in GB",
    created: "Created",
    lastBackup: "Last backup",
    never: "Never",
    createdFrom: "Created from",
    outgoing: "Sends mail",
    id: "ID",
  },
  filters: {
    labels: {
      version: "Filter by version",
      edition: "Filter by edition",
      image: "Filter by image",
      server: "Filter by server",
      older: "Filter by last backup",
      drill: "Filter by restore drill",
    },
    any: {
      version: "Any version",
      edition: "Any edition",
      image: "Any image",
      server: "Any server",
      older: "Any last backup",
      drill: "Any restore drill",
    },
    days: (days: number) => (days === 1 ? "No backup for a day" : `No backup for ${days} days`),
    drills: { passed: "Drill passed", failed: "Drill failed" },
    images: { newer: "Update available", newest: "Newest image" },
    /** The plural within sentences. */
    plural: "servers",
    noServers: "No servers yet",
  },
  updateAvailable: "Update available",
  /** What a button copies: "Copy database name". */
  copied: {
    databaseName: "database name",
    adminEmail: "admin email",
    adminPassword: "admin password",
    login: "login",
    id: "ID",
    recordType: "record's type",
    recordName: "record's name",
    recordValue: "record's value",
  },
  facts: {
    title: "Details",
    neutralization: "Neutralized instances",
    neutralizationAbout:
      "A neutralized instance sends no email, runs no scheduled actions and takes no payments, so tests on it reach nobody. Choose Neutralize when you clone or restore.",
    newerImage: "Update available",
    newestImage: "The newest of its version",
    off: "No (neutralized)",
    unchanged: "Yes",
    redirects: (domain: ReactNode, until: ReactNode) => (
      <>
        {domain} until {until}
      </>
    ),
    deletedBackup: "A deleted backup",
    uploadedBackup: "Uploaded backup",
    backupOf: (instance: ReactNode, time: string) => (
      <>
        {instance}, backup of {time}
      </>
    ),
  },
  dns: {
    title: "DNS record",
    description: "Add this record at your registrar or DNS provider.",
    about:
      "It points the domain to your server. The instance responds to no other name. To use another domain, choose Change domain under Actions.",
    until:
      "Without this record, nobody can reach the instance. Once it exists, a TLS certificate is issued automatically within minutes.",
    type: "Type",
    name: "Name",
    value: "Value",
    newDomain: "The new domain",
    noAddress: "Waiting for the server's IP address",
  },
  actions: {
    of: (name: string) => `Actions on ${name}`,
    policy: "Backup policy",
    open: "Open",
    openOf: (name: string) => `Open ${name} (opens in a new tab)`,
    backUp: "Back up now",
    restore: "Restore",
    start: "Start",
    stop: "Stop",
    restart: "Restart",
    edit: "Edit details",
    domain: "Change domain",
    clone: "Clone…",
    startCall: "Show API call to start",
    startCallTitle: (name: string) => `Start ${name}`,
    delete: "Delete",
    startAgain: "Try starting again",
    createAgain: "Create again",
    deleteFailed: "Delete instance",
  },
  backups: {
    empty: "No backups of this instance yet.",
  },
  tabs: {
    label: (name: string) => `Parts of ${name}`,
    overview: "Overview",
    backups: "Backups",
    code: "Code",
    metrics: "Metrics",
    history: "History",
    logs: "Logs",
    settings: "Settings",
  },
  settings: {
    diskQuota: "Disk quota",
    noQuota: "None",
  },
  history: {
    title: "History",
    description: "Backups, restore drills, restores, clones and all other work on this instance, newest first.",
  },
  interrupt: {
    start: {
      title: (name: string) => `Start ${name}`,
      confirm: "Start",
      effect: "Users can sign in again once it runs.",
    },
    stop: {
      title: (name: string) => `Stop ${name}`,
      confirm: "Stop",
      effect: "Users can't sign in until you start it again. No data is lost.",
    },
    restart: {
      title: (name: string) => `Restart ${name}`,
      confirm: "Restart",
      effect: "Users are disconnected for a moment and lose unsaved changes.",
    },
  },
  edit: {
    title: (name: string) => `Edit ${name}`,
    save: "Save",
    saved: (name: string) => `Instance updated: ${name}`,
    adminEmailAbout: "Used as the login of new clones. Doesn't change the login of this instance.",
    diskQuotaAbout:
      "Leave empty for no quota. An instance above its quota shows a warning, and is paused if less than 5% of its server's disk is free.",
    diskQuotaInvalid: "must be a number of GB such as 20",
  },
  changeDomain: {
    title: (name: string) => `Change the domain of ${name}`,
    change: "Change domain",
    first: (domain: string) => `Create the new domain's DNS record first. ${domain} keeps working until the switch.`,
    newDomain: "New domain",
    same: "is already this instance's domain",
  },
  delete: {
    title: "Delete instance",
    titleOf: (name: string) => `Delete instance ${name}`,
    about: (domain: string) => `${domain} stops working. You can't undo this.`,
  },
  /** What creating and cloning share. */
  form: {
    chooseServer: "Choose an active server",
    installing: (name: string) => `${name} is being installed`,
    login: "Login",
  },
  create: {
    title: "Create instance",
    needsServer: "Instances run on an active server.",
    deletesFirst: (name: string) => `${name}, whose creation failed, is deleted first: it holds this name, domain and database.`,
    domainAbout: "The address your users open. You'll get the DNS record to create afterwards.",
    databaseNameHint: "Lowercase letters, numbers and underscores. Must start with a letter. Can't be changed later.",
    adminEmailAbout: "The admin signs in to Odoo with this email.",
    chooseVersion: "Choose a version",
    follows: (version: string, server: string) => `Odoo ${version} is installed on ${server}, which takes a few minutes.`,
    deprecated: "deprecated",
    deprecatedAbout: "Support ends soon. Choose a newer version if you can.",
    editions: {
      community: { label: "Community", description: "Free and open source." },
      enterprise: { label: "Enterprise", description: "Requires an Odoo Enterprise subscription." },
    },
    beginsWith: ({ instance_name, file_name }: Pick<Backup, "instance_name" | "file_name">, time: string) =>
      `Starts with the ${instance_name === null ? ["uploaded backup", file_name ?? []].flat().join(" ") : `backup of ${instance_name}`}, ${time}`,
    odoo: (version: string) => `Odoo ${version}`,
    keepsUuid: "The database keeps its UUID.",
    neutralize: "Neutralize",
    neutralizeOn:
      "Scheduled actions, email and payments are turned off, so your tests never reach real customers. Users need new passwords.",
    neutralizeOff:
      "Scheduled actions, email and payments will run here, so stop the original first. Users keep their passwords, except the admin.",
  },
  missingFiles: {
    accept: "Create it without the missing files",
    about: (missing: string, listed: string) =>
      `${missing} of the ${listed} files that the database lists aren't in the backup: documents, images and attachments that nobody can open.`,
  },
  clone: {
    title: "Clone",
    titleOf: (name: string) => `Clone ${name}`,
    create: "Create clone",
    /** The words for a clone from a backup, whose menu calls it that, too. */
    restoreTitle: "Restore to a new instance",
    restoreTitleOf: (name: string) => `Restore ${name} to a new instance`,
    restore: "Restore to a new instance",
    noBackups: "No completed backups",
    noBackupsAbout: "Clones are created from a backup. Back up this instance first.",
    viewInstance: "View instance",
    sameServer: "Same server",
    deletedServer: "The original instance was deleted, so choose a server.",
    backup: "Backup",
    backups: "backups",
    backupAbout: "The new instance starts with this backup's data and Odoo version.",
    chooseAgain: "Choose again what to copy and whether to reset users: what the failed attempt chose isn't stored.",
    chooseBackup: "Choose a backup",
    domainAbout: "The new instance needs its own domain. You'll get the DNS record to create afterwards.",
    parts: "What to copy",
    nothingToCopy: "Choose the database, the files, or both.",
    database: "Database",
    databaseAbout: "If off, the new instance starts with an empty database.",
    files: "Files",
    filesAbout: "Attachments, images and documents.",
    neutralize: "Neutralize (recommended)",
    neutralizeAbout:
      "Turns off scheduled actions, email and payments in the new instance, so your tests never reach real customers.",
    notNeutralized:
      "The new instance will send email, run scheduled actions and take payments like the original. Use this only to replace the original.",
    resetUsers: "Reset users",
    resetUsersAbout:
      "Everyone but the administrator needs a new password on the new instance. Their sessions and API keys stop working there.",
    generated: "Generated from the name",
    databaseNameHint: "Lowercase letters, numbers and underscores. Must start with a letter.",
  },
};
