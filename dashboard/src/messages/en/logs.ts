// The log of an instance, and of the work of an operation.

export const logs = {
  title: "Log",
  about:
    "What was logged last, read from the server of the instance. Passwords and tokens are left out. Errors of the ERP come with their traceback.",
  refresh: "Refresh",
  follow: "Follow",
  source: "Whose log",
  sources: { erp: "ERP", database: "Database", proxy: "Requests" },
  withData: "It shows statements with their data, so you need the permission to restore backups, too.",
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
  counter: (matching: number, all: number) => (matching === all ? `${all} messages` : `${matching} of ${all} messages`),
  older: "Older messages are left out.",
  gap: "More was logged than could be read: messages are missing in between.",
};
