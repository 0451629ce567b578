// The dialogs of backups.
import { describeBackup, type Named } from "./backups.tsx";

export type Part = "all" | "database" | "files";

export const backupDialogs = {
  details: {
    unknown: "Backup",
    title: ({ instance_name, file_name }: Named, at: string) =>
      `${file_name ?? (instance_name === null ? "Uploaded backup" : `Backup of ${instance_name}`)}, ${at}`,
    create: "Create an instance",
    toNew: "Restore to a new instance",
    status: "Status",
    kind: "Kind",
    note: "Note",
    locked: "Locked",
    isLocked: "Yes: it can't be deleted and doesn't expire",
    notLocked: "No",
    started: "Started",
    completed: "Completed",
    notCompleted: "Not completed",
    expires: "Expires",
    never: "Never",
    version: "Version",
    database: "Database",
    size: "Size",
    bytes: (size: string, bytes: string) => `${size} (${bytes} bytes)`,
    missing: "Missing files",
    missingAbout: "The database lists them, but the instance did not have them.",
    skipped: "Skipped files",
    skippedAbout: "Links, devices, sockets, and names that are not UTF-8 or too long.",
    fileName: "File",
    leftOut: "Not loaded from its dump",
    missingModules: "Modules that the ERP's image lacks",
    noFiles: "None",
    sha256: "SHA-256 checksum",
    checksum: "checksum",
    labels: "Labels",
    id: "ID",
  },
  importAgain: {
    open: "Try again",
    title: (backup: Named, at: string) => `Try the import again: ${describeBackup(backup)}, ${at}`,
    about: (until: string) => `The archive is stored until ${until}. You don't have to upload it again.`,
    submit: "Try again",
  },
  restore: {
    title: (instance: string) => `Restore ${instance}`,
    submit: "Restore",
    toNew: "Restore to a new instance instead",
    backup: "Backup",
    backups: "backups",
    none: "No completed backup of this instance yet.",
    gone: "The backup that was chosen here no longer exists. Choose another one.",
    /** What the dry run does not say. */
    about({ part, at, backupFirst }: { part: Part; at: string; backupFirst: boolean }) {
      const replaced = part === "files" ? "The replaced files" : "Changes made since then";
      const preRestore = backupFirst ? ` ${replaced} will exist only in the pre-restore backup.` : "";
      return `The backup is from ${at}.${preRestore} If the restore fails, the instance is rolled back.`;
    },
    parts: "What to restore",
    part: { all: "Database and files", database: "Database only", files: "Files only" } satisfies Record<Part, string>,
    backupFirst: "Back up the current state first",
    backupFirstAbout: "Lets you undo this restore.",
    neutralize: "Neutralize",
    neutralizeAbout: "Turns off scheduled actions, email and payments. Leave this off for production.",
    confirm: (instance: string) => `Type ${instance} to confirm`,
    differs: (instance: string) => `doesn't match. Type ${instance}`,
  },
  backUp: {
    title: (instance: string) => `Back up ${instance}`,
    anyTitle: "Back up an instance",
    submit: "Back up now",
    note: "Note",
    noteAbout: "What this backup is for. The instance keeps running.",
    noteExample: "Before the upgrade",
    instance: "Instance",
    choose: "Choose an instance",
    instances: "instances",
    none: "No instances yet",
  },
  edit: {
    title: (backup: Named, at: string) => `Edit ${describeBackup(backup)}, ${at}`,
    save: "Save",
    saved: ({ instance_name, file_name }: Named, at: string) =>
      `Backup updated: ${instance_name ?? file_name ?? "uploaded"}, ${at}`,
    note: "Note",
    noteAbout: "What this backup is for.",
    locked: "Locked",
    lockedAbout: "Nobody can delete a locked backup, and it doesn't expire.",
  },
  delete: {
    title: "Delete backup",
    titleOf: ({ instance_name, file_name }: Named, at: string) =>
      `Delete ${instance_name === null ? "uploaded backup" : `backup of ${instance_name}`}${file_name === null ? "" : ` ${file_name}`}, ${at}`,
    about: "You can't undo this.",
  },
  drill: {
    title: "Restore drill",
    run: "Run drill",
    none: "No restore drill yet. A drill restores the backup to a throwaway database and checks it.",
    passed: "Passed",
    failed: "Failed",
    unchecked: "Not checked",
    runTitle: (backup: Named, at: string) => `Run restore drill: ${describeBackup(backup)}, ${at}`,
    /** The title before it is known which backup is the newest. */
    runTitleOfNewest: (instance: string) => `Run restore drill: newest backup of ${instance}`,
    /** This text replaces the dry run's sentence. */
    about:
      "The drill restores this backup to a throwaway database without a network, and starts Odoo on it without scheduled actions. " +
      "It checks the data, then removes everything. Instances keep running, and their data isn't touched.",
    server: "Server",
    serverAbout: "The backup has no instance, so choose a server.",
    chooseServer: "Choose an active server",
    itsServer: "The instance's server",
  },
};
