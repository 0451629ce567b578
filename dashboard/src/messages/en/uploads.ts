// The upload of a backup that was made elsewhere.

export const uploads = {
  title: "Upload backup",
  backups: "Backups",
  serverFor: "An active server examines the archive.",
  file: {
    label: "File",
    about: "A backup in Odoo's own zip format, from its database manager, from odoo db dump, or downloaded here.",
    choose: "Choose file",
    empty: "This file is empty.",
    /** Ends without a full stop. */
    unreadable: "The browser can't read the file: it was changed, moved or deleted. Choose it again",
  },
  server: {
    label: "Server",
    placeholder: "Choose an active server",
    about: "It examines the archive in a throwaway database without a network. You can create the instance elsewhere.",
    aboutLater: "It examines the archive once it is uploaded.",
  },
  note: "Note",
  notePlaceholder: "From our old server",
  upload: "Upload",
  continue: "Continue upload",
  unfinished: {
    title: (name: string, size: string) => `Unfinished upload: ${name}, ${size}`,
    about: "Choose the same file to continue where it stopped.",
    elsewhere: "Started in another browser or with the API. Continue it there, or abort it to make room.",
  },
  abort: "Abort upload",
  abortTitle: (name: string) => `Abort upload of ${name}`,
  abortAbout: "Deletes what was uploaded so far. Your file isn't changed.",
  phases: {
    paused: (name: string) => `Paused: ${name}`,
    stored: (name: string) => `Uploaded: ${name}`,
    sending: (name: string) => `Uploading: ${name}`,
  },
  progressOf: (name: string) => `Upload of ${name}`,
  sent: (sent: string, all: string) => `${sent} of ${all}`,
  left: (time: string) => `${time} left`,
  checked: (percent: number) => `checked ${percent}%`,
  pause: "Pause",
  resume: "Resume",
  chooseAgain: "Choose the file again",
  keepOpen: "Keep this page open. If it closes, choose the same file again to continue.",
  another: "Upload another file",
  /** Ends without a full stop. */
  rejected: (status: number) => `The storage rejected a part of the file (HTTP ${status})`,
  leaving: {
    title: "Leave this page?",
    about: "The upload stops. You can choose the same file later to continue.",
    leave: "Leave",
    stay: "Stay",
  },
};
