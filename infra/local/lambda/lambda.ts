// Lambda on this machine: every function of the template in its own worker thread, with its own environment and credentials.
import { createHmac } from "node:crypto";
import { join } from "node:path";
import { hooks, type Hooks } from "../hooks.ts";
import { REGION } from "../template/resolve.ts";
import type { LambdaFunction } from "../template/functions.ts";
import { FunctionError } from "./function-error.ts";
import { type Log, openLog } from "./log.ts";
import { openSandbox, type Sandbox } from "./sandbox.ts";

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/** The same pair for the same name after every start, so that a presigned URL of yesterday is still valid. */
export function deriveCredentials(localSecret: string, name: string): Credentials {
  const digest = (purpose: string): Buffer => createHmac("sha256", localSecret).update(`${purpose}:${name}`).digest();
  return {
    accessKeyId: `AKIA${digest("id").toString("hex").slice(0, 16).toUpperCase()}`,
    secretAccessKey: digest("secret").toString("base64").slice(0, 40),
  };
}

// Invocations of a function share its one thread, while Lambda would give each a sandbox: a sandbox takes 15 MB and 100 ms.
// The consequences: they share module-level state, and one that computes for long delays the others.
// The number is the concurrency of a new AWS account; AWS throttles beyond it, too.
const CONCURRENT_LIMIT = 1000;
const PAYLOAD_LIMIT_BYTES = 6 * 1024 * 1024;
export type Lambda = Pick<Hooks<Invocation>, "intercept"> & {
  /**
   * Invokes a function by name or ARN. Returns the handler's result as parsed JSON; throws a FunctionError if it failed in any
   * way.
   */
  invoke: (functionName: string, payload: unknown) => Promise<unknown>;
  /** Ends the function's thread at once, with whatever it is doing, as Lambda does when a sandbox crashes. */
  kill: (functionName: string) => Promise<void>;
  /** The last log lines of the function. */
  logs: (functionName: string) => string[];
  /** The function's environment, for a runtime other than this one. */
  buildEnvironment: (functionName: string) => Record<string, string>;
  stop: () => Promise<void>;
};
interface Invocation {
  functionName: string;
  payload: unknown;
}

interface Options {
  functions: LambdaFunction[];
  /** Added to the template's variables of each function. */
  environment: Record<string, string>;
  localSecret: string;
  dataDir?: string | undefined;
  /** Stores compiled bundles for the next thread that loads them. */
  compileCache?: string | undefined;
  /** How long a function's thread is kept without invocations. */
  idleSeconds?: number | undefined;
  /** A clock that a test drives, in place of the machine's. */
  clock?: SharedArrayBuffer | undefined;
}

export function startLambda(options: Options): Lambda {
  const { intercept, run } = hooks<Invocation>();
  const functions = new Map(options.functions.flatMap((each) => [[each.name, each] as const, [each.arn, each] as const]));
  const sandboxes = new Map<string, Sandbox>();
  const running = new Set<Sandbox>();
  const logs = new Map<string, Log>();
  let stopped = false;
  const find = (name: string): LambdaFunction => {
    const found = functions.get(name);
    if (!found) throw new FunctionError("Lambda.ResourceNotFoundException", `Function not found: ${name}`);
    return found;
  };
  const createLog = (name: string): Log => {
    const log = logs.get(name) ?? openLog(options.dataDir === undefined ? undefined : join(options.dataDir, "logs"), name);
    logs.set(name, log);
    return log;
  };
  const open = (definition: LambdaFunction): Sandbox => {
    const sandbox = openSandbox(definition, {
      environment: buildEnvironment(definition, options),
      log: createLog(definition.name),
      compileCache: options.compileCache,
      idleSeconds: options.idleSeconds,
      clock: options.clock,
      onExit: () => running.delete(sandbox),
    });
    running.add(sandbox);
    sandboxes.set(definition.name, sandbox);
    return sandbox;
  };
  const call = async (definition: LambdaFunction, payload: unknown): Promise<unknown> => {
    const { name } = definition;
    const event = JSON.stringify(payload ?? null);
    if (stopped) throw new FunctionError("Lambda.ServiceException", "The local runner is stopping");
    if (Buffer.byteLength(event) > PAYLOAD_LIMIT_BYTES)
      throw new FunctionError("Lambda.RequestTooLargeException", `The payload of ${name} is over ${PAYLOAD_LIMIT_BYTES} bytes`);
    const existing = sandboxes.get(name);
    const sandbox = existing?.isOpen() ? existing : open(definition);
    if (sandbox.running() >= CONCURRENT_LIMIT) throw new FunctionError("Lambda.TooManyRequestsException", "Rate Exceeded.");
    return sandbox.invoke(event);
  };

  return {
    intercept,
    invoke: async (functionName, payload) => {
      const definition = find(functionName);
      return run({ functionName: definition.name, payload }, async (invocation) => call(definition, invocation.payload));
    },
    kill: async (functionName) => void (await sandboxes.get(find(functionName).name)?.terminate()),
    buildEnvironment: (functionName) => buildEnvironment(find(functionName), options),
    logs: (functionName) => createLog(find(functionName).name).lines,
    stop: async () => {
      stopped = true;
      await Promise.all([...running].map((sandbox) => sandbox.terminate()));
      for (const log of logs.values()) log.close();
    },
  };
}

function buildEnvironment(definition: LambdaFunction, options: Options): Record<string, string> {
  const { name, memoryMegabytes, directory, environment, handler, logLevel } = definition;
  const { accessKeyId, secretAccessKey } = deriveCredentials(options.localSecret, name);
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
