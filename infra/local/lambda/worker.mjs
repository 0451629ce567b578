// @ts-check
// The thread of one function: loads its bundle as Lambda's Node.js runtime would, and handles invocations.
// Plain JavaScript without dependencies, because every function pays for what loads here: with stripped types and zod, a thread
// takes four times as long to start.
/* oxlint-disable unicorn/require-post-message-target-origin -- threads have no origin, windows do */
import { parentPort, workerData } from "node:worker_threads";
import { driveClock } from "./clock.mjs";
import { patchConsole, withRequest } from "./console.mjs";

/**
 * What lambda.ts sends.
 * @typedef {{ file: string, exported: string, context: Record<string, unknown>, compileCache: string | undefined, clock:
 * SharedArrayBuffer | undefined }} Data
 * @typedef {{ id: string, event: string, deadline: number, trace: string }} Invocation
 * @typedef {(event: unknown, context: object) => unknown} Handler
 */

/** @type {Data} */
const { file, exported, context, compileCache, clock } = workerData;

if (clock !== undefined) driveClock(clock);

// Otherwise each thread of a process, and the next process, would compile its bundle anew. With this kind of import it costs 2
// ms.
if (compileCache !== undefined) process.getBuiltinModule("node:module").enableCompileCache(compileCache);

/**
 * @param {unknown} value
 * @returns {value is Handler}
 */
const isHandler = (value) => typeof value === "function";

/** @param {unknown} error */
function describe(error) {
  if (!(error instanceof Error)) return { errorType: typeof error, errorMessage: String(error), trace: [] };
  return { errorType: error.name, errorMessage: error.message, trace: (error.stack ?? "").split("\n") };
}

if (process.env["AWS_LAMBDA_LOG_FORMAT"] === "JSON") patchConsole(process.env["AWS_LAMBDA_LOG_LEVEL"] ?? "INFO");

/** @type {Record<string, unknown>} */
const bundle = await import(process.getBuiltinModule("node:url").pathToFileURL(file).href);
const handler = bundle[exported];
if (!isHandler(handler)) throw new TypeError(`${file} exports no function ${exported}`);

/** @type {(handle: Handler, invocation: Invocation) => Promise<void>} */
async function respond(handle, { id, event, deadline, trace }) {
  // As on Lambda, for code that reads it; with several invocations in one thread the last one's wins.
  process.env["_X_AMZN_TRACE_ID"] = trace;
  try {
    const getRemainingTimeInMillis = () => deadline - Date.now();
    const result = await handle(JSON.parse(event), { ...context, awsRequestId: id, getRemainingTimeInMillis });
    parentPort?.postMessage({ id, result: JSON.stringify(result) ?? "null" });
  } catch (error) {
    console.error(error instanceof Error ? error : new Error(String(error)));
    parentPort?.postMessage({ id, error: describe(error) });
  }
}

parentPort?.on(
  "message",
  (/** @type {Invocation} */ invocation) => void withRequest(invocation.id, () => respond(handler, invocation)),
);
parentPort?.postMessage({ ready: true });
