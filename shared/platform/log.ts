// Log lines as events with fields. Tokens, passwords and bodies are never among them.
//
// Lambda's runtime makes a JSON object of each: time, level, Lambda's own request id, and as `message` what is given here, an
// object because text would be encoded twice. It leaves out levels below the function's own. A logger of ours, because the one
// that AWS offers would take a fourteenth of the largest function's size.
import { AsyncLocalStorage } from "node:async_hooks";

type Fields = Record<string, unknown>;
type Level = "debug" | "info" | "warn" | "error";

/** Fields that every line of one invocation has; kept apart where invocations share a process. */
const keys = new AsyncLocalStorage<Fields>();

function write(level: Level, message: string, fields: Fields = {}): void {
  const line: Fields = { message, ...keys.getStore(), ...fields };
  for (const name in line) if (line[name] instanceof Error) line[name] = serialize(line[name]);
  console[level](line);
}

/** An error with its causes: name, text and stack. */
function serialize(value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  return { name, message, stack, ...(cause !== undefined && { cause: serialize(cause) }) };
}

export const log = {
  /** The fields of this invocation's lines from now on. */
  setKeys: (fields: Fields): void => keys.enterWith(fields),
  debug: (message: string, fields?: Fields): void => write("debug", message, fields),
  info: (message: string, fields?: Fields): void => write("info", message, fields),
  warn: (message: string, fields?: Fields): void => write("warn", message, fields),
  error: (message: string, fields?: Fields): void => write("error", message, fields),
};

/**
 * Lambda's runtime logs whatever a function throws with `console.error`. Errors of this type are a result, so they are logged at
 * level DEBUG.
 */
export function logAsDebug(type: new (...parameters: never[]) => Error): void {
  const { error, debug } = console;
  console.error = (...values: unknown[]) => (values[0] instanceof type ? debug : error)(...values);
}
