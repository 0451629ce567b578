// Actions on many records at once.
import type { ReactNode } from "react";

/** The kinds of records that can be selected. */
export type Selectable = "server" | "instance";

const countOf = (number: number, kind: Selectable): string => `${number} ${kind}${number === 1 ? "" : "s"}`;

export const bulk = {
  actions: "Actions",
  selectFirst: (kind: Selectable) => `Select ${kind}s first.`,
  busy: "Another bulk action is in progress.",
  /** `verb` is "Stop". */
  confirm: (verb: string, number: number, kind: Selectable) => `${verb} ${countOf(number, kind)}`,
  ask: (verb: string, number: number, kind: Selectable) => `${verb} ${countOf(number, kind)}?`,
  none: (verb: string, selected: number, kind: Selectable) => `${verb}: none of ${countOf(selected, kind)}`,
  /** `done` is "Stopped". */
  oneByOne: (done: string, kind: Selectable) =>
    `The ${kind}s are ${done.toLowerCase()} one after another, each in an operation of its own.`,
  included: (number: number) => `Included (${number})`,
  leftOut: (number: number) => `Left out (${number})`,
  /** `running` is "Stopping". */
  running: (running: string, kind: Selectable) => `${running} ${kind}s`,
  progress: (running: string, ended: number, all: number) => `${running}: ${ended} of ${all}`,
  inProgress: (number: number) => `${number} in progress.`,
  keepOpen: (number: number) => `${number} in progress. Keep this page open until all requests have been sent.`,
  waiting: (time: ReactNode) => <>Too many requests. Continues in {time}.</>,
  cancelRest: "Cancel the rest",
  result: (done: string, number: number, all: number, kind: Selectable) => `${done}: ${number} of ${countOf(all, kind)}`,
  dismiss: "Dismiss",
  again: "Try these again",
  notStarted: "Not requested.",
  failed: "Failed",
  labels: {
    change: "Change labels",
    title: (number: number, kind: Selectable) => `Change labels of ${countOf(number, kind)}`,
    confirm: (number: number, kind: Selectable) => `Change ${countOf(number, kind)}`,
    running: (kind: Selectable) => `Changing labels of ${kind}s`,
    done: "Labels changed",
    same: "No change needed.",
    tooMany: (most: number) => `Would have more than ${most} labels.`,
    add: "Labels to add",
    addAbout: "One per line, such as env: production. They replace labels with the same key.",
    remove: "Keys to remove",
    removeAbout: "Separated by commas, such as env, team.",
  },
};
