// The levels of a log's lines, from the least important, and which lines somebody wants to see.
export const LOG_LEVELS = ["debug", "info", "warning", "error", "critical"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Whose log of an instance. */
export const LOG_SOURCES = ["erp", "database", "proxy"] as const;
export type LogSource = (typeof LOG_SOURCES)[number];

/** A message of a log, with the lines that belong to it. */
export interface LogLine {
  at: string;
  level: LogLevel | null;
  logger: string | null;
  message: string;
}

/** Whether a line has at least this level. What has none may be anything, so it counts as information. */
export const reaches = (level: LogLevel | null, least: LogLevel): boolean =>
  LOG_LEVELS.indexOf(level ?? "info") >= LOG_LEVELS.indexOf(least);

/** Whether a line has this text, in any case. */
export const contains = ({ logger, message }: Pick<LogLine, "logger" | "message">, text: string): boolean =>
  `${logger ?? ""}: ${message}`.toLowerCase().includes(text.toLowerCase());
