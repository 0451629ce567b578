// The worker thread of one function: it loads the bundle, runs all of the function's invocations, and ends when one of them
// breaks it.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import * as z from "zod";
import { LocalError } from "../errors.ts";
import type { LambdaFunction } from "../template/functions.ts";
import { FunctionError } from "./function-error.ts";
import type { Log } from "./log.ts";

// Lambda allows 10 s to load the bundle; a busy machine gets three times that.
const LOAD_LIMIT_MILLISECONDS = 30_000;
// Lambda keeps one for minutes. A new one takes 50 ms here, and all functions together take a gigabyte.
const IDLE_SECONDS = 30;

const Message = z.union([
  z.object({ ready: z.literal(true) }),
  z.object({ id: z.string(), result: z.string() }),
  z.object({
    id: z.string(),
    error: z.object({ errorType: z.string(), errorMessage: z.string(), trace: z.array(z.string()) }),
  }),
]);

interface Call {
  resolve: (result: unknown) => void;
  reject: (error: FunctionError) => void;
  timer?: NodeJS.Timeout;
}

export interface Sandbox {
  /** False once it gets no more invocations; it ends after the last of those in progress. */
  isOpen: () => boolean;
  /** The number of invocations in progress. */
  running: () => number;
  invoke: (event: string) => Promise<unknown>;
  terminate: () => Promise<number>;
}

interface Options {
  environment: Record<string, string>;
  log: Log;
  /** Stores compiled bundles for the next thread that loads them. */
  compileCache?: string | undefined;
  /** How long a thread without invocations is kept. */
  idleSeconds?: number | undefined;
  /** A clock that a test drives (clock.mjs). */
  clock?: SharedArrayBuffer | undefined;
  onExit: () => void;
}

export function openSandbox(definition: LambdaFunction, options: Options): Sandbox {
  const { log, idleSeconds = IDLE_SECONDS, onExit } = options;
  const { name, timeoutSeconds } = definition;
  const worker = startWorker(definition, options);
  const calls = new Map<string, Call>();
  const loaded = Promise.withResolvers<void>();
  let open = true;
  const idle = setTimeout(() => {
    if (calls.size > 0) return;
    open = false;
    void worker.terminate();
  }, idleSeconds * 1000).unref();

  const settle = (id: string): Call | undefined => {
    const call = calls.get(id);
    clearTimeout(call?.timer);
    calls.delete(id);
    if (!open && calls.size === 0) void worker.terminate();
    idle.refresh();
    return call;
  };
  const fail = (error: FunctionError): void => {
    open = false;
    for (const id of calls.keys()) settle(id)?.reject(error);
    void worker.terminate();
  };
  const timeOut = (id: string): void => {
    const message = `RequestId: ${id} Error: Task timed out after ${timeoutSeconds.toFixed(2)} seconds`;
    log.write(`${message}\n`);
    open = false;
    settle(id)?.reject(new FunctionError("Sandbox.Timedout", message));
  };
  listen(worker, { name, log, onLoaded: loaded.resolve, settle, fail, onExit });
  return {
    isOpen: () => open,
    running: () => calls.size,
    terminate: () => worker.terminate(),
    invoke: (event) =>
      new Promise((resolve, reject) => {
        const id = randomUUID();
        const pending: Call = { resolve, reject };
        calls.set(id, pending);
        const begin = (): void => {
          if (!calls.has(id)) return;
          // The time counts from when the bundle is loaded, as on Lambda.
          const deadline = Date.now() + timeoutSeconds * 1000;
          pending.timer = setTimeout(() => timeOut(id), timeoutSeconds * 1000);
          const trace = `Root=1-${Math.floor(Date.now() / 1000).toString(16)}-${id.replaceAll("-", "").slice(0, 24)};Sampled=0`;
          // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
          worker.postMessage({ id, event, deadline, trace });
        };
        void loaded.promise.then(begin);
      }),
  };
}

interface Listeners {
  name: string;
  log: Log;
  onLoaded: () => void;
  settle: (id: string) => Call | undefined;
  fail: (error: FunctionError) => void;
  onExit: () => void;
}

function listen(worker: Worker, { name, log, onLoaded, settle, fail, onExit }: Listeners): void {
  let isReady = false;
  const failWith = (type: string, message: string): void => {
    clearTimeout(limit);
    fail(new FunctionError(type, message));
  };
  const limit = setTimeout(() => failWith("Sandbox.Timedout", `${name} took too long to load`), LOAD_LIMIT_MILLISECONDS);
  worker.stdout.setEncoding("utf8").on("data", log.write);
  worker.stderr.setEncoding("utf8").on("data", log.write);
  worker.on("message", (received: unknown) => {
    const parsed = Message.parse(received);
    if ("ready" in parsed) {
      isReady = true;
      clearTimeout(limit);
      onLoaded();
    } else if ("result" in parsed) {
      settle(parsed.id)?.resolve(JSON.parse(parsed.result));
    } else {
      const { errorType, errorMessage, trace } = parsed.error;
      settle(parsed.id)?.reject(new FunctionError(errorType, errorMessage, trace));
    }
  });
  worker.on("error", (error) => {
    const { name: type, message } = error instanceof Error ? error : new Error(String(error));
    log.write(`${error instanceof Error ? error.stack : message}\n`);
    failWith(isReady ? "Runtime.ExitError" : type, `${name} crashed: ${message}`);
  });
  worker.on("exit", (code) => {
    onExit();
    failWith("Runtime.ExitError", `Error: Runtime exited with error: exit status ${code}`);
  });
}

function startWorker(definition: LambdaFunction, { environment: env, compileCache, clock }: Options): Worker {
  const { name, arn, directory, handler, memoryMegabytes } = definition;
  if (directory === undefined) throw new LocalError(`${name} has no bundle on this machine: give it Code.fromAsset(directory)`);
  const [file = "index", exported = "handler"] = handler.split(".");
  return new Worker(new URL("./worker.mjs", import.meta.url), {
    env,
    // Nothing of this process's own options: no inspector, no loaders, no NODE_OPTIONS.
    execArgv: [],
    stdout: true,
    stderr: true,
    // The smallest functions get more than on AWS, because concurrent invocations share it here.
    // What a request leaves is collected soon: with V8's own limit, 48 MB, 50 busy functions hold over two gigabytes.
    resourceLimits: { maxOldGenerationSizeMb: Math.max(memoryMegabytes, 256), maxYoungGenerationSizeMb: 8 },
    workerData: {
      file: join(directory, `${file}.mjs`),
      exported,
      compileCache,
      clock,
      context: {
        functionName: name,
        functionVersion: "$LATEST",
        invokedFunctionArn: arn,
        memoryLimitInMB: String(memoryMegabytes),
        logGroupName: `/aws/lambda/${name}`,
        logStreamName: "local",
        callbackWaitsForEmptyEventLoop: true,
      },
    },
  });
}
