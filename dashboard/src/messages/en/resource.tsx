// What all resources share: statuses, lists, forms, dialogs, times and sizes. Titles of lists are in the plural: "Instances".
import type { ReactNode } from "react";
import type { Drill } from "../../../../shared/api/drill.ts";
import type {
  BackupStatus,
  DeployStatus,
  HealthStatus,
  InstanceStatus,
  ItemStatus,
  OperationStatus,
  ProtectionStatus,
  RehearsalStatus,
  ServerStatus,
} from "../../../../shared/domain/lifecycle.ts";
import { reasons } from "./reasons.ts";
import { sentences } from "./sentences.ts";

/** A title within a sentence: "instances", but "API keys". */
const inside = (title: string): string => (/^\p{Lu}{2}/u.test(title) ? title : title.toLowerCase());

export const resource = {
  tell: "Tell me about this",
  statuses: {
    server: { provisioning: "Provisioning", active: "Active", offline: "Offline" } satisfies Record<ServerStatus, string>,
    instance: {
      provisioning: "Provisioning",
      running: "Running",
      stopping: "Stopping",
      stopped: "Stopped",
      starting: "Starting",
      restarting: "Restarting",
      restoring: "Restoring",
      updating: "Updating",
      failed: "Failed",
      deleting: "Deleting",
    } satisfies Record<InstanceStatus, string>,
    backup: {
      pending: "Pending",
      running: "Running",
      completed: "Completed",
      failed: "Failed",
      deleting: "Deleting",
    } satisfies Record<BackupStatus, string>,
    protection: { protected: "Protected", overdue: "Overdue", unprotected: "Unprotected" } satisfies Record<
      ProtectionStatus,
      string
    >,
    certificate: { pending: "Pending", valid: "Valid", failing: "Failing" },
    health: { ok: "Responding", failing: "Not working", unknown: "Unknown" } satisfies Record<HealthStatus, string>,
    drill: { passed: "Passed", failed: "Failed" } satisfies Record<Drill["status"], string>,
    deploy: { pending: "Pending", running: "Running", completed: "Completed", failed: "Failed" } satisfies Record<
      DeployStatus,
      string
    >,
    rehearsal: { passed: "Passed", failed: "Failed", skipped: "Skipped" } satisfies Record<RehearsalStatus, string>,
    operation: { pending: "Pending", running: "Running", succeeded: "Succeeded", failed: "Failed" } satisfies Record<
      OperationStatus,
      string
    >,
    item: {
      waiting: "Waiting",
      running: "In progress",
      succeeded: "Done",
      failed: "Failed",
      cancelled: "Canceled",
    } satisfies Record<ItemStatus, string>,
  },
  /** What the API says by a code: the same in English. */
  reasons,
  sentences,
  conflict: {
    title: "Someone else changed this meanwhile",
    about: "Your changes aren't saved yet. Keep them, or go on with what is there now.",
    deleted: {
      title: "Someone else deleted this meanwhile",
      about: "Your changes aren't saved yet. Keep them, and saving creates it again, or discard them.",
    },
    field: "Field",
    currentValue: "Now",
    userValue: "Yours",
    same: "unchanged",
    yes: "Yes",
    no: "No",
    keep: "Keep my changes",
    discard: "Discard my changes",
  },
  list: {
    loading: "Loading",
    refresh: (title: string) => `Refresh ${inside(title)}`,
    loadedSoFar: (count: string) => `${count} loaded so far`,
    download: (title: string) => `Download ${inside(title)} as CSV`,
    actions: "Actions",
    actionsOn: (name: string) => `Actions on ${name}`,
    select: (title: string) => `Select ${inside(title)}`,
    selectPage: (title: string) => `Select all ${inside(title)} on this page`,
    selectOne: (name: string) => `Select ${name}`,
    /** A button of a row. */
    act: (action: string, name: string) => `${action} ${name}`,
    selected: (number: string) => `${number} selected`,
    /** The text when as many are selected as one action takes. */
    selectedMost: (number: string) => `${number} selected, the most at once`,
    selectAll: (number: string) => `Select all ${number}`,
    selectFirst: (number: string) => `Select the first ${number}`,
    clearSelection: "Clear selection",
    noMatches: "No matches for this filter.",
    nothingHere: "There's nothing on this page.",
    clearFilter: "Clear filter",
    firstPage: "Go to page 1",
    updated: {
      now: "Updated just now",
      seconds: (seconds: number) => `Updated ${seconds} s ago`,
      minutes: (minutes: number) => `Updated ${minutes} min ago`,
    },
  },
  find: {
    label: (title: string) => `Find ${inside(title)}`,
    /** Fits beside the filters. */
    placeholder: "Name, domain, label",
    /** Opens what else a list can be filtered by; `used` is how many of these filters are chosen. */
    filters: (used: number) => (used === 0 ? "Filters" : `Filters (${used})`),
    sort: "Sort",
    sorts: { "": "Newest first", oldest: "Oldest first", name: "Name A–Z", "name-desc": "Name Z–A" },
    more: "More filters",
    created: { from: "Created from", to: "Created until" },
    any: { status: "Any status", protection: "Any protection", health: "Any health" },
    onlyLabel: (label: string) => `Only label ${label}`,
    saved: {
      title: "Saved filters",
      save: "Save these filters…",
      nothing: "Filter the list first.",
      saveTitle: "Save filters",
      name: "Name",
      about: "Kept in this browser.",
      submit: "Save",
      remove: (name: string) => `Remove “${name}”`,
    },
    filter: { status: "Filter by status", protection: "Filter by protection", health: "Filter by health" },
  },
  paging: {
    label: "Pages",
    previous: "Previous page",
    next: "Next page",
    page: (page: string, pages: string) => `Page ${page} of ${pages}`,
  },
  preferences: {
    title: (title: string) => `Preferences for ${inside(title)}`,
    save: "Save",
    pageSize: "Page size",
    perPage: (size: number) => `${size} per page`,
    columns: "Columns",
    density: "Density",
    compact: "Compact rows",
  },
  /** `plural` is the kind of records: "servers". */
  chooser: {
    noMatches: (total: string, plural: string) => `No matches in all ${total} ${plural}`,
    find: (plural: string) => `Find ${plural}`,
    search: (total: string, plural: string) => `Search all ${total} ${plural}`,
    loading: (plural: string) => `Loading ${plural}`,
    loadingMore: (plural: string, loaded: string, all: string) => `Loading ${plural}: ${loaded} of ${all} so far`,
    failed: (plural: string) => `Couldn't load ${plural}.`,
  },
  form: {
    cancel: "Cancel",
    optional: (label: ReactNode) => (
      <>
        {label} <i>– optional</i>
      </>
    ),
    typeName: (name: string) => `Type ${name} to confirm`,
    required: "This is required.",
    more: "More options",
  },
  labels: {
    title: "Labels",
    about: "One per line, such as env: production. You can filter lists by them.",
  },
  help: {
    info: "Info",
    about: (term: string) => `Info: ${term}`,
    close: "Close",
  },
  copy: {
    copy: (name: string) => `Copy ${name}`,
    copied: "Copied",
    failed: "Couldn't copy. Select the text and copy it manually.",
  },
  apiCall: {
    show: "Show API call",
    sessionsOnly: "Only the dashboard can do this. The API doesn't accept API keys for it.",
    /** `kind` is "curl" or "TypeScript". */
    call: (kind: string) => `${kind} call`,
    copy: (kind: string) => `Copy ${kind} call`,
    token: "Set TOKEN to an API key. Passwords are left out.",
    idempotencyKey: "Use a new idempotency key for each new action.",
  },
  /** `name` is "API key" or "admin password". */
  secret: {
    warning: (name: string) => `Copy the ${name} now. You won't be able to see it again.`,
    saveFirst: "Save it first, then tick this box.",
    saved: (name: string) => `I've saved the ${name}`,
    done: "Done",
  },
  forecast: {
    effects: "What happens",
    downtime: "Estimated downtime",
    disk: "Disk space needed",
    nextRuns: "Next runs",
    never: "Never",
    unknown: "Can't be estimated yet",
    none: "None",
    about: (time: string) => `About ${time}`,
    otherEffects: (number: number) => (number === 1 ? "And 1 other effect" : `And ${number} other effects`),
    warnings: "Warnings",
  },
  time: {
    soon: "in a moment",
    now: "just now",
    /** An exact time with its distance. */
    exact: (time: string, distance: string) => `${time} (${distance})`,
    utc: (time: string) => `${time} UTC`,
  },
  units: ["bytes", "kB", "MB", "GB", "TB"],
};
