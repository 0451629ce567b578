// The log of an instance, and of the work of an operation.

export const logs = {
  title: "Log",
  about:
    "What the ERP has logged last, read from its server. Passwords and tokens are left out. Errors come with their traceback.",
  refresh: "Refresh",
  download: "Download",
  level: "Lowest level",
  levels: {
    debug: "All levels",
    info: "Info and above",
    warning: "Warnings and errors",
    error: "Errors only",
    critical: "Critical errors only",
  },
  search: "Search in the log",
  searchPlaceholder: "Text in a message",
  none: "The log is empty.",
  noMatch: "No message matches.",
  shown: (shown: number, all: number) => (shown === all ? `${all} messages` : `${shown} of ${all} messages`),
  older: "Older messages are left out.",
};
