// Log lines as events with fields, one JSON object a line. Tokens, passwords and bodies are never among them.
//
// Our own, because the logger that AWS offers would take a fourteenth of the largest function's size.
import { AsyncLocalStorage } from "node:async_hooks";

type Fields = Record<string, unknown>;
type Level = "DEBUG" | "INFO" | "WARN" | "ERROR";
const LEVELS: readonly Level[] = ["DEBUG", "INFO", "WARN", "ERROR"];

/** Fields that every line of one invocation has; kept apart where invocations share a process. */
const keys = new AsyncLocalStorage<Fields>();

function write(level: Level, message: string, fields: Fields = {}): void {
  const least = LEVELS.findIndex((name) => name === process.env["LOG_LEVEL"]);
  if (LEVELS.indexOf(level) < least) return;
  const line = { level, message, timestamp: new Date().toISOString(), ...keys.getStore(), ...fields };
  console.log(JSON.stringify(line, (_, value: unknown) => (value instanceof Error ? told(value) : value)));
}

/** An error with its causes: name, text and place. */
const told = ({ name, message, stack, cause }: Error): Fields => ({
  name,
  message,
  stack,
  ...(cause !== undefined && { cause }),
});

export const log = {
  /** Begins the lines of an invocation. */
  resetKeys: (): void => keys.enterWith({}),
  appendKeys: (more: Fields): void => keys.enterWith({ ...keys.getStore(), ...more }),
  debug: (message: string, fields?: Fields): void => write("DEBUG", message, fields),
  info: (message: string, fields?: Fields): void => write("INFO", message, fields),
  warn: (message: string, fields?: Fields): void => write("WARN", message, fields),
  error: (message: string, fields?: Fields): void => write("ERROR", message, fields),
};
