// Actions on many records at once.

/** The kinds of records that can be selected. */
export type Selectable = "server" | "instance" | "backup";

const countOf = (number: number, kind: Selectable): string => `${number} ${kind}${number === 1 ? "" : "s"}`;

export interface Work {
  /** The action in the menu: "Stop". */
  verb: string;
  /** "Stop 3 instances" */
  ask: (things: string) => string;
  /** "Stopping instances" */
  running: (things: string) => string;
  /** What it means for the people who use them. */
  effect?: string;
}

const work = (verb: string, running: string, effect?: string): Work => ({
  verb,
  ask: (things) => `${verb} ${things}`,
  running: (things) => `${running} ${things}`,
  ...(effect !== undefined && { effect }),
});

const LABELS: Work = { ...work("Change labels", "Changing labels of"), ask: (things) => `Change labels of ${things}` };

export const bulk = {
  actions: "Actions on selected",
  selectFirst: (kind: Selectable) => `Select ${kind}s first.`,
  count: countOf,
  many: (kind: Selectable) => `${kind}s`,
  work: {
    server: {
      reboot: work("Reboot", "Rebooting", "Their instances don't respond until they have started again."),
      update: work(
        "Update",
        "Updating",
        "Packages, proxy and database servers are updated. Instances restart if their database server gets a newer image.",
      ),
      set_labels: LABELS,
    },
    instance: {
      start: work("Start", "Starting", "Users can sign in again within a minute."),
      stop: work("Stop", "Stopping", "Users can't sign in until you start them again. No data is lost."),
      restart: work("Restart", "Restarting", "Users are disconnected for a moment and lose unsaved changes."),
      backup: work("Back up", "Backing up", "Each instance keeps running while it's backed up."),
      deploy: {
        ...work("Deploy", "Deploying", "Each gets its own code. Users can't sign in while modules are updated."),
        ask: (things) => `Deploy to ${things}`,
        running: (things) => `Deploying to ${things}`,
      },
      set_policy: {
        ...work("Set backup policy", "Setting the backup policy of"),
        ask: (things) => `Set backup policy of ${things}`,
      },
      delete_policy: {
        ...work(
          "Delete backup policy",
          "Deleting the backup policy of",
          "They are no longer backed up by schedule. Existing backups are kept.",
        ),
        ask: (things) => `Delete backup policy of ${things}`,
      },
      set_labels: LABELS,
      delete: work("Delete", "Deleting", "You can't undo this."),
    },
    backup: {
      lock: work("Lock", "Locking", "Nobody can delete them until they are unlocked."),
      unlock: work("Unlock", "Unlocking", "They can be deleted again."),
      drill: {
        ...work(
          "Run restore drill",
          "Running restore drills of",
          "Each is restored to a throwaway database on its server and checked. No instance is touched.",
        ),
        ask: (things) => `Run restore drills of ${things}`,
      },
      set_labels: LABELS,
      delete: work("Delete", "Deleting", "The archives are deleted. You can't undo this."),
    },
  } satisfies Record<Selectable, Readonly<Record<string, Work>>>,
  none: (verb: string, selected: number, kind: Selectable) => `${verb}: none of ${countOf(selected, kind)}`,
  byService: "The service carries this out, a few at a time. You can close this page.",
  included: (number: number) => `Included (${number})`,
  leftOut: (number: number) => `Left out (${number})`,
  gone: (number: number) =>
    number === 1 ? "One no longer exists and is left out." : `${number} no longer exist and are left out.`,
  /** An error, to which the full stop is added. */
  allGone: "Nothing is left of what you selected",
  /** `running` is "Stopping instances". */
  progress: (running: string, ended: number, all: number) => `${running}: ${ended} of ${all}`,
  inProgress: (running: number, failed: number) => `${running} in progress${failed > 0 ? `, ${failed} failed` : ""}.`,
  paused: "Paused. Those in progress continue.",
  cancelling: "Canceling. Those in progress continue.",
  pause: "Pause",
  resume: "Resume",
  cancelRest: "Cancel the rest",
  results: "Results",
  again: (number: number) => `Try ${number} again`,
  /** What it does beside its name. */
  parameters: {
    title: "What",
    adds: (labels: string) => `Adds the labels ${labels}`,
    removes: (keys: string) => `Removes the labels ${keys}`,
    labels: (labels: string) => (labels === "" ? "No labels" : `Labels: ${labels}`),
    note: (note: string) => `Note: ${note}`,
    onServer: (id: string) => `On server ${id}`,
    keeps: (words: string) => `Keeps: ${words}`,
    drills: (words: string) => `Restore drills: ${words}`,
    modules: {
      changed: "Updates the modules that have changed",
      all: "Updates all modules of the code",
      named: (names: string) => `Updates the modules ${names}`,
    },
    choices: {
      enabled: (yes: boolean): string => (yes ? "Enabled" : "Disabled"),
      with_backups: (yes: boolean): string => (yes ? "Deletes their backups, too" : "Keeps their backups"),
      rehearse: (yes: boolean): string => (yes ? "Rehearses first" : "Without a rehearsal"),
      backup_first: (yes: boolean): string => (yes ? "Backs up first" : "Without a backup first"),
      update_image: (yes: boolean): string => (yes ? "Updates the image, too" : "Keeps the image"),
    },
  },
  /** The column of the results. */
  columns: { resource: "Name", status: "Result", reason: "Reason", operation: "Operation" },
  open: "Show",
  noResults: "None has this result.",
  labels: {
    confirm: (number: number, kind: Selectable) => `Change ${countOf(number, kind)}`,
    same: "No change needed.",
    tooMany: (most: number) => `Would have more than ${most} labels.`,
    tooLong: (most: string) => `Its labels would be too long: keys and values together can have ${most} bytes.`,
    add: "Labels to add",
    addAbout: "One per line, such as env: production. They replace labels with the same key.",
    remove: "Keys to remove",
    removeAbout: "Separated by commas, such as env, team.",
  },
  delete: {
    withBackups: "Delete their backups, too",
    withBackupsAbout: "Locked backups stay. Without this, all backups are kept, and you can create instances from them.",
    typeCount: (number: number) => `To confirm, type the number: ${number}`,
    /** What the dry run says, without that the backups stay. */
    effects: {
      erp_deleted: "Removes the ERP with its database and files",
      erp_deleted_later: "Removes the ERP with its database and files as soon as its server responds again",
      backup_deleted: "Deletes a backup",
    },
  },
  /** Why another try leaves something out. */
  alreadyDeleted: "Already deleted.",
  backupsLeft: "Already deleted. To delete the backups that are left, follow the link in the results.",
  alreadyLocked: "Already locked.",
  notLocked: "Not locked.",
};
