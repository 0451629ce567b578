// Runs functions as Lambda does: each in AWS's own runtime client, one invocation at a time. Its output is what CloudWatch gets.
/* oxlint-disable unicorn/require-post-message-target-origin -- threads have no origin, windows do */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { Worker } from "node:worker_threads";
import * as z from "zod";
import { FunctionError } from "../../infra/local/lambda/function-error.ts";

export interface RuntimeClient {
  /** The function's environment names its bundle and folder. */
  invoke: (environment: Record<string, string>, payload: unknown) => Promise<unknown>;
  /** The output of all of them; they end with it. */
  end: () => Promise<string[]>;
}

/** The number of open threads: a function keeps its thread while others have room. */
const OPEN_MAX = 8;

const Outcome = z.union([z.object({ result: z.string() }), z.object({ error: z.string() })]);
const Failure = z.object({ errorType: z.string(), errorMessage: z.string(), trace: z.array(z.string()) });

interface Thread {
  worker: Worker;
  written: Promise<string>;
  last: Promise<unknown>;
}

export function runtimeClient(): RuntimeClient {
  const threads = new Map<string, Thread>();
  const written: Promise<string>[] = [];

  async function close(name: string, { worker, last }: Thread): Promise<void> {
    threads.delete(name);
    await last;
    await worker.terminate();
  }

  function open(name: string, environment: Record<string, string>): Thread {
    const [oldest] = threads;
    if (threads.size >= OPEN_MAX && oldest !== undefined) void close(...oldest);
    const worker = new Worker(new URL("runtime-client-worker.mjs", import.meta.url), {
      // Asked only about a failure to load, which ends the thread.
      env: { ...environment, AWS_LAMBDA_RUNTIME_API: "127.0.0.1:1" },
      execArgv: [],
      stdout: true,
      stderr: true,
    });
    worker.on("error", () => undefined); // the waiting caller gets the outcome
    const thread: Thread = { worker, written: text(worker.stdout), last: Promise.resolve() };
    written.push(thread.written, text(worker.stderr));
    threads.set(name, thread);
    return thread;
  }

  async function run({ worker }: Thread, name: string, payload: unknown): Promise<unknown> {
    const outcome = once(worker, "message"); // rejects with the error that ended the thread
    const headers = {
      "lambda-runtime-aws-request-id": randomUUID(),
      "lambda-runtime-deadline-ms": Date.now() + 60_000,
      "lambda-runtime-invoked-function-arn": `arn:aws:lambda:us-east-1:000000000000:function:${name}`,
      "lambda-runtime-trace-id": "Root=1-00000000-000000000000000000000000",
    };
    worker.postMessage({ bodyJson: JSON.stringify(payload), headers });
    const [received]: unknown[] = await outcome;
    const ended = Outcome.parse(received);
    if ("result" in ended) return JSON.parse(ended.result);
    const { errorType, errorMessage, trace } = Failure.parse(JSON.parse(ended.error));
    throw new FunctionError(errorType, errorMessage, trace);
  }

  return {
    invoke: async (environment, payload) => {
      const name = environment["AWS_LAMBDA_FUNCTION_NAME"] ?? "";
      const thread = threads.get(name) ?? open(name, environment);
      const next = thread.last.then(() => run(thread, name, payload));
      thread.last = next.then(
        () => undefined,
        () => undefined,
      );
      return next;
    },
    end: async () => {
      for (const [name, thread] of threads) await close(name, thread);
      return (await Promise.all(written)).flatMap((all) => all.split("\n")).filter(Boolean);
    },
  };
}
