// What servers report about themselves: disk, memory, certificates, and whether their ERPs can be used.

export const reports = {
  disk: "Disk",
  memory: "Memory",
  free: (free: string, all: string) => `${free} of ${all} free`,
  /** The label of the bar. */
  used: (used: string, all: string) => `Used: ${used} of ${all}`,
  ofQuota: (used: string, quota: string) => `${used} of a quota of ${quota}`,
  system: "Operating system",
  needsReboot: "Updated: a reboot is needed for the updates to take effect",
  needsNoReboot: "No reboot needed",
  at: "Reported",
  none: "Not reported yet",
  lowDisk: {
    title: "Low disk space",
    almostFull: "Disk almost full",
    onServer: (server: string, free: string, disk: string) =>
      `${server} has ${free} of ${disk} free. Backups and restores may fail, and databases stop if the disk fills up. Delete instances you no longer need, or clone some to another server and delete the originals.`,
    onForm: (server: string, free: string, disk: string) =>
      `${server} has ${free} of ${disk} free. Choose another server, or first delete instances on it that you no longer need.`,
  },
  health: {
    label: "Health",
    failingSince: "Failing since",
    restarts: "The service restarts the ERP automatically, at most three times a day.",
  },
  certificate: {
    label: "Certificate",
    expires: "Certificate expires",
    checked: "Certificate checked",
    unchecked: "not yet",
    failing: {
      title: "Couldn't get or renew the certificate",
      about: (domain: string) =>
        `The server couldn't get or renew a certificate for ${domain}. Make sure the DNS record has exactly this value, and remove any others for this name. The server retries automatically.`,
    },
    leaves:
      "The server checks every ten minutes. This card disappears once the record points to it and the certificate is valid.",
  },
};
