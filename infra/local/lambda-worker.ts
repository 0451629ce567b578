/** The thread in which one function lives: loads its bundle as Lambda's Node.js runtime would, and answers invocations. */
/* oxlint-disable unicorn/require-post-message-target-origin -- threads have no origin, windows do */
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import * as z from "zod";

type Handler = (event: unknown, context: object) => unknown;

const { file, exported, context } = z
  .object({ file: z.string(), exported: z.string(), context: z.record(z.string(), z.unknown()) })
  .parse(workerData);
const invocation = z.object({ id: z.string(), event: z.string(), deadline: z.number(), trace: z.string() });

const isHandler = (value: unknown): value is Handler => typeof value === "function";

function describe(error: unknown): { errorType: string; errorMessage: string; trace: string[] } {
  if (!(error instanceof Error)) return { errorType: typeof error, errorMessage: String(error), trace: [] };
  return { errorType: error.name, errorMessage: error.message, trace: (error.stack ?? "").split("\n") };
}

const bundle: Record<string, unknown> = await import(pathToFileURL(file).href);
const handler = bundle[exported];
if (!isHandler(handler)) throw new TypeError(`${file} exports no function ${exported}`);

async function answer(handle: Handler, message: unknown): Promise<void> {
  const { id, event, deadline, trace } = invocation.parse(message);
  // As on Lambda, for what reads it; with several invocations in one thread the last one's wins.
  process.env["_X_AMZN_TRACE_ID"] = trace;
  try {
    const getRemainingTimeInMillis = (): number => deadline - Date.now();
    const result = await handle(JSON.parse(event), { ...context, awsRequestId: id, getRemainingTimeInMillis });
    parentPort?.postMessage({ id, result: JSON.stringify(result) ?? "null" });
  } catch (error) {
    parentPort?.postMessage({ id, error: describe(error) });
  }
}

parentPort?.on("message", (message: unknown) => void answer(handler, message));
parentPort?.postMessage({ ready: true });
