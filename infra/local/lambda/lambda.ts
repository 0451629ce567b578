// Lambda on this machine: every function of the template in a worker thread of its own, with its own environment and credentials.
import { createHmac, randomUUID } from "node:crypto";
import { createWriteStream, mkdirSync, renameSync, statSync, type WriteStream } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import * as z from "zod";
import { LocalError } from "../errors.ts";
import { hooks, type Hooks } from "../hooks.ts";
import { REGION, type LambdaFunction } from "../template/template.ts";

/** What a function threw, or what became of it, under the name by which Step Functions matches it. */
export class FunctionError extends Error {
  readonly trace: string[];
  constructor(errorType: string, errorMessage: string, trace: string[] = []) {
    super(errorMessage);
    this.name = errorType;
    this.trace = trace;
  }
}

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/** The same pair for the same name after every start, so that an address presigned yesterday is still good. */
export function credentialsOf(localSecret: string, name: string): Credentials {
  const digest = (purpose: string): Buffer => createHmac("sha256", localSecret).update(`${purpose}:${name}`).digest();
  return {
    accessKeyId: `AKIA${digest("id").toString("hex").slice(0, 16).toUpperCase()}`,
    secretAccessKey: digest("secret").toString("base64").slice(0, 40),
  };
}

// Invocations of a function share its one thread, where Lambda would give each a sandbox: a sandbox takes 15 MB and 100 ms.
// What that changes: module-level state is seen by all of them, and one that computes for long delays the others.
// The number is the concurrency that a new AWS account has; beyond it AWS throttles, too.
const CONCURRENT_LIMIT = 1000;
const PAYLOAD_LIMIT_BYTES = 6 * 1024 * 1024;
// Lambda allows 10 s to load the bundle; three times that on a machine that is busy with everything else as well.
const LOAD_LIMIT_MILLISECONDS = 30_000;
const LOG_LIMIT_BYTES = 10 * 1024 * 1024;
const LINES_KEPT = 1000;

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
interface Sandbox {
  worker: Worker;
  ready: Promise<void>;
  calls: Map<string, Call>;
}
export interface Log {
  write: (chunk: string) => void;
  lines: string[];
  close: () => void;
}

/** Appends to `<directory>/<name>.log`, and keeps the last lines in memory; without a directory only those. */
export function openLog(directory: string | undefined, name: string): Log {
  const lines: string[] = [];
  let stream: WriteStream | undefined;
  let rest = "";
  if (directory !== undefined) {
    const path = join(directory, `${name}.log`);
    mkdirSync(directory, { recursive: true });
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > LOG_LIMIT_BYTES) renameSync(path, `${path}.old`);
    stream = createWriteStream(path, { flags: "a" });
    // A full disk must not end the service: the last lines are still in memory.
    stream.on("error", () => (stream = undefined));
  }
  return {
    lines,
    write: (chunk) => {
      stream?.write(chunk);
      const parts = (rest + chunk).split("\n");
      rest = parts.pop() ?? "";
      lines.push(...parts);
      lines.splice(0, lines.length - LINES_KEPT);
    },
    close: () => stream?.end(),
  };
}

export type Lambda = Pick<Hooks<Invocation>, "intercept"> & {
  /** By name or ARN. What the handler returned, after a trip through JSON; a FunctionError if it failed in any way. */
  invoke: (functionName: string, payload: unknown) => Promise<unknown>;
  /** The last lines that the function wrote. */
  logs: (functionName: string) => string[];
  /** What the function finds in its environment: for another runtime than this one's. */
  environmentOf: (functionName: string) => Record<string, string>;
  stop: () => Promise<void>;
};
export interface Invocation {
  functionName: string;
  payload: unknown;
}

export function startLambda(options: {
  functions: LambdaFunction[];
  /** Added to what the template gives each function. */
  environment: Record<string, string>;
  localSecret: string;
  dataDir?: string | undefined;
  /** Where compiled bundles are kept for the next thread that loads them. */
  compileCache?: string | undefined;
}): Lambda {
  const { intercept, run } = hooks<Invocation>();
  const functions = new Map(
    options.functions.flatMap(
      (each) =>
        [
          [each.name, each],
          [each.arn, each],
        ] as const,
    ),
  );
  const sandboxes = new Map<string, Sandbox>();
  const workers = new Set<Worker>();
  const logs = new Map<string, Log>();
  let stopped = false;

  const find = (name: string): LambdaFunction => {
    // An ARN may end in a version or an alias: there is only one version here.
    const found = functions.get(name) ?? functions.get(name.split(":").slice(0, 7).join(":"));
    if (!found) throw new FunctionError("Lambda.ResourceNotFoundException", `Function not found: ${name}`);
    return found;
  };

  const logOf = (name: string): Log => {
    const log = logs.get(name) ?? openLog(options.dataDir === undefined ? undefined : join(options.dataDir, "logs"), name);
    logs.set(name, log);
    return log;
  };

  function environmentOf(definition: LambdaFunction): Record<string, string> {
    const { name, memoryMegabytes, directory, environment, handler, logLevel } = definition;
    const { accessKeyId, secretAccessKey } = credentialsOf(options.localSecret, name);
    return {
      AWS_REGION: REGION,
      AWS_DEFAULT_REGION: REGION,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_LAMBDA_FUNCTION_NAME: name,
      AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMegabytes),
      AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
      AWS_LAMBDA_LOG_STREAM_NAME: "local",
      AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
      LAMBDA_TASK_ROOT: directory ?? "",
      _HANDLER: handler,
      TZ: ":UTC",
      ...(logLevel !== undefined && { AWS_LAMBDA_LOG_FORMAT: "JSON", AWS_LAMBDA_LOG_LEVEL: logLevel }),
      ...environment,
      ...options.environment,
    };
  }

  /** No new call gets this sandbox any more; it ends when the last of those in it has. */
  function retire(name: string, sandbox: Sandbox): void {
    if (sandboxes.get(name) === sandbox) sandboxes.delete(name);
    if (sandbox.calls.size === 0) void sandbox.worker.terminate();
  }

  function settle(name: string, sandbox: Sandbox, id: string): Call | undefined {
    const call = sandbox.calls.get(id);
    clearTimeout(call?.timer);
    sandbox.calls.delete(id);
    if (sandboxes.get(name) !== sandbox) retire(name, sandbox);
    return call;
  }

  function fail(name: string, sandbox: Sandbox, error: FunctionError): void {
    if (sandboxes.get(name) === sandbox) sandboxes.delete(name);
    for (const id of sandbox.calls.keys()) settle(name, sandbox, id)?.reject(error);
    void sandbox.worker.terminate();
  }

  function open(definition: LambdaFunction): Sandbox {
    const { name, arn, directory, handler, memoryMegabytes } = definition;
    if (directory === undefined) throw new LocalError(`${name} has no bundle on this machine: give it Code.fromAsset(directory)`);
    const [file = "index", exported = "handler"] = handler.split(".");
    const worker = new Worker(new URL("./worker.mjs", import.meta.url), {
      env: environmentOf(definition),
      // Nothing of how this process was started: no inspector, no loaders, no NODE_OPTIONS.
      execArgv: [],
      stdout: true,
      stderr: true,
      // The smallest functions are given more than AWS would: here the concurrent invocations share it.
      resourceLimits: { maxOldGenerationSizeMb: Math.max(memoryMegabytes, 256) },
      workerData: {
        file: join(directory, `${file}.mjs`),
        exported,
        compileCache: options.compileCache,
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
    const loaded = Promise.withResolvers<void>();
    const sandbox: Sandbox = { worker, ready: loaded.promise, calls: new Map() };
    const log = logOf(name);
    let isReady = false;
    const gone = (type: string, why: string): void => {
      clearTimeout(limit);
      fail(name, sandbox, new FunctionError(type, why));
    };
    const limit = setTimeout(() => gone("Sandbox.Timedout", `${name} took too long to load`), LOAD_LIMIT_MILLISECONDS);
    worker.stdout.setEncoding("utf8").on("data", log.write);
    worker.stderr.setEncoding("utf8").on("data", log.write);
    worker.on("message", (received: unknown) => {
      const parsed = Message.parse(received);
      if ("ready" in parsed) {
        isReady = true;
        clearTimeout(limit);
        loaded.resolve();
      } else if ("result" in parsed) {
        settle(name, sandbox, parsed.id)?.resolve(JSON.parse(parsed.result));
      } else {
        const { errorType, errorMessage, trace } = parsed.error;
        settle(name, sandbox, parsed.id)?.reject(new FunctionError(errorType, errorMessage, trace));
      }
    });
    worker.on("error", (error) => {
      const { name: type, message: why } = error instanceof Error ? error : new Error(String(error));
      log.write(`${error instanceof Error ? error.stack : why}\n`);
      gone(isReady ? "Runtime.ExitError" : type, `${name} crashed: ${why}`);
    });
    worker.on("exit", (code) => {
      workers.delete(worker);
      gone("Runtime.ExitError", `Error: Runtime exited with error: exit status ${code}`);
    });
    workers.add(worker);
    sandboxes.set(name, sandbox);
    return sandbox;
  }

  function call(definition: LambdaFunction, payload: unknown): Promise<unknown> {
    const { name, timeoutSeconds } = definition;
    const event = JSON.stringify(payload ?? null);
    if (stopped) throw new FunctionError("Lambda.ServiceException", "The local runner is stopping");
    if (Buffer.byteLength(event) > PAYLOAD_LIMIT_BYTES)
      throw new FunctionError("Lambda.RequestTooLargeException", `The payload of ${name} is over ${PAYLOAD_LIMIT_BYTES} bytes`);
    const sandbox = sandboxes.get(name) ?? open(definition);
    if (sandbox.calls.size >= CONCURRENT_LIMIT) throw new FunctionError("Lambda.TooManyRequestsException", "Rate Exceeded.");
    const id = randomUUID();
    return new Promise((resolve, reject) => {
      const pending: Call = { resolve, reject };
      sandbox.calls.set(id, pending);
      const begin = (): void => {
        if (!sandbox.calls.has(id)) return;
        // The clock starts when the bundle is loaded, as on Lambda.
        const deadline = Date.now() + timeoutSeconds * 1000;
        pending.timer = setTimeout(() => {
          const why = `RequestId: ${id} Error: Task timed out after ${timeoutSeconds.toFixed(2)} seconds`;
          logOf(name).write(`${why}\n`);
          if (sandboxes.get(name) === sandbox) sandboxes.delete(name);
          settle(name, sandbox, id)?.reject(new FunctionError("Sandbox.Timedout", why));
        }, timeoutSeconds * 1000);
        const trace = `Root=1-${Math.floor(Date.now() / 1000).toString(16)}-${id.replaceAll("-", "").slice(0, 24)};Sampled=0`;
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
        sandbox.worker.postMessage({ id, event, deadline, trace });
      };
      void sandbox.ready.then(begin);
    });
  }

  return {
    intercept,
    invoke: async (functionName, payload) => {
      const definition = find(functionName);
      return run({ functionName: definition.name, payload }, async (invocation) => call(definition, invocation.payload));
    },
    environmentOf: (functionName) => environmentOf(find(functionName)),
    logs: (functionName) => logOf(find(functionName).name).lines,
    stop: async () => {
      stopped = true;
      await Promise.all([...workers].map((worker) => worker.terminate()));
      for (const log of logs.values()) log.close();
    },
  };
}
