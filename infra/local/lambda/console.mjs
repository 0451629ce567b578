// @ts-check
// The console of a function with JSON as its log format, as AWS's runtime client for Node.js patches it: a line is an object with
// time, level, request ID and `message`. Plain JavaScript without dependencies, like worker.mjs, which loads it.
const { AsyncLocalStorage } = process.getBuiltinModule("node:async_hooks");
const { format } = process.getBuiltinModule("node:util");

const LEVELS = /** @type {const} */ (["trace", "debug", "info", "warn", "error", "fatal"]);

/** The invocation of a line: here several share a thread. */
const requests = new AsyncLocalStorage();

/** @type {<T>(requestId: string, work: () => T) => T} */
export const withRequest = (requestId, work) => requests.run(requestId, work);

/** @param {string} least */
export function patchConsole(least) {
  const lowest = LEVELS.findIndex((level) => level === least.toLowerCase());
  const methods = LEVELS.map((level, at) => [
    level,
    (/** @type {unknown} */ message, /** @type {unknown[]} */ ...more) => {
      if (at >= lowest) process.stdout.write(`${lineOf(level.toUpperCase(), message, more)}\n`);
    },
  ]);
  Object.assign(console, Object.fromEntries(methods));
  console.log = console.info;
}

/** @type {(level: string, message: unknown, more: unknown[]) => string} */
function lineOf(level, message, more) {
  const line = { timestamp: new Date().toISOString(), level, requestId: requests.getStore() ?? "-" };
  if (more.length > 0) return JSON.stringify({ ...line, message: format(message, ...more), ...described(more.find(isError)) });
  try {
    return JSON.stringify({ ...line, message }, (_, value) => (isError(value) ? Object.assign(described(value), value) : value));
  } catch {
    return JSON.stringify({ ...line, message: format(message) }); // a circular value
  }
}

/** @type {(value: unknown) => value is Error} */
const isError = (value) => value instanceof Error;

/** @param {Error | undefined} error */
function described(error) {
  if (error === undefined) return {};
  return { errorType: error.constructor.name, errorMessage: error.message, stackTrace: (error.stack ?? "").split("\n") };
}
