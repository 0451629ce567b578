// API keys.
import type { ReactNode } from "react";

export const tokens = {
  title: "API keys",
  about: "Use API keys to call the API from scripts and tools. Each key can do only what its permissions allow.",
  empty: "No API keys yet. Create one to call the API.",
  one: "API key",
  columns: {
    name: "Name",
    key: "Key",
    permissions: "Permissions",
    used: "Last used",
    expires: "Expires",
    created: "Created",
  },
  actionsOf: (name: string) => `Actions on ${name}`,
  filters: {
    placeholder: "Name, creator, address",
    labels: { permission: "Filter by permission", older: "Filter by last use", expires: "Filter by expiry" },
    any: { permission: "Any permission", older: "Any last use", expires: "Any expiry" },
    unused: { "30": "Not used for 30 days", "90": "Not used for 90 days", never: "Never used" },
    ends: { never: "Never expires", soon: "Expires within 30 days", expired: "Expired" },
  },
  createdBy: (name: string) => `by ${name}`,
  usedFrom: (address: string) => `from ${address}`,
  onlyFrom: (networks: readonly string[]) => `only from ${networks.join(", ")}`,
  neverUsed: "Never",
  neverExpires: "Never",
  expired: (time: ReactNode) => <>Expired {time}</>,
  create: {
    title: "Create API key",
    about: "Lets a script or tool call the API on behalf of this account.",
    name: "Name",
    nameAbout: "The script or tool that uses this key.",
    namePlaceholder: "Deploy pipeline",
    networks: "Networks",
    networksAbout: "Where the key works from. From anywhere else, it is rejected. Leave it empty for everywhere.",
    networksHint: "Up to 10, separated by commas, for example 192.0.2.7, 198.51.100.0/24, 2001:db8::/64.",
    created: (name: string) => `API key ${name}`,
  },
  expiry: {
    title: "Expires",
    about: "Expired keys stop working. Rotate long-lived keys regularly.",
    choices: { "30": "In 30 days", "90": "In 90 days", "365": "In 1 year", on: "On a specific date", never: "Never" },
    longest: (days: number) => `In ${days} days, the longest time in this account`,
    untilRevoked: "Valid until you revoke it.",
    endOf: (day: string) => `Expires at the end of ${day}.`,
    lastDay: "Last day",
    lastDayHint: "YYYY-MM-DD",
    noDate: "must be a date, for example 2027-01-31",
    past: "must be in the future",
  },
  permissions: {
    title: "Permissions",
    about: "Start from a preset above, or choose individual permissions.",
    help: "Give a key only the permissions its program needs. Any other request fails with FORBIDDEN, and the error names the missing permission. You can't change the permissions of a key later, only revoke it.",
    preset: "Access level",
    individual: "Individual permissions",
    count: (number: number) => `${number} permission${number === 1 ? "" : "s"}`,
    /** What users would not guess from the permission's name. */
    beyond: {
      "servers:read": "includes SSH keys",
      "servers:write": "includes SSH keys; can create billable servers",
      "instances:write": "cloning also needs backups:restore",
      "backups:restore": "includes downloads, which expose all data",
      "settings:read": "includes the activity log",
    },
  },
  presets: {
    read: { name: "Read only", about: "View everything, change nothing." },
    automation: { name: "Automation", about: "Everything except account settings." },
    backups: { name: "Backups only", about: "Create and delete backups. Can't restore or download them." },
    all: { name: "Everything", about: "Everything you can do, except manage API keys." },
  },
  replaced: "replaced",
  rotation: {
    title: (name: string) => `Rotate API key ${name}`,
    confirm: "Rotate",
    about: (name: string, key: string) => (
      <>
        Creates a new key with the name and permissions of <strong>{name}</strong> ({key}). Webhooks that act for it act for the
        new one.
      </>
    ),
    overlap: "The old key works",
    overlapAbout: "Change your program to the new key within this time.",
    overlaps: (hours: number) =>
      hours === 0 ? "No longer" : hours === 1 ? "1 hour longer" : hours === 24 ? "24 hours longer" : `${hours / 24} days longer`,
  },
  revocation: {
    title: (name: string) => `Revoke API key ${name}`,
    confirm: "Revoke",
    revoked: (name: string) => `API key revoked: ${name}`,
    about: (name: string, key: string) => (
      <>
        <strong>{name}</strong> ({key}) stops working immediately. You can't undo this.
      </>
    ),
  },
};
