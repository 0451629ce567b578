// Step Functions on this machine: the template's state machines, with executions that outlive this process.
import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ExecutionAbortedError, ExecutionTimeoutError } from "aws-local-stepfunctions";
import * as z from "zod";
import { AwsFault, LocalError } from "../errors.ts";
import type { Event } from "../events/events.ts";
import { hooks, type Hooks } from "../hooks.ts";
import { FunctionError } from "../lambda/lambda.ts";
import { runnable, type Runnable } from "./runnable.ts";
import type { StateMachine } from "../template/template.ts";

const DATA_LIMIT_BYTES = 262_144;
// Step Functions keeps 90 days of history, too. The number bounds what a start has to read: 10,000 files in half a second.
const KEPT_DAYS = 90;
const KEPT_COUNT = 10_000;
const PRUNE_EVERY = 500;

const Status = z.enum(["RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"]);
const Execution = z.object({
  executionArn: z.string(),
  stateMachineArn: z.string(),
  name: z.string(),
  input: z.string(),
  status: Status,
  startDate: z.number(),
  stopDate: z.number().optional(),
  output: z.string().optional(),
  error: z.string().optional(),
  cause: z.string().optional(),
  /** Whether the event that says how it ended was delivered: if this process dies in between, the next one delivers it. */
  announced: z.boolean().default(false),
});
export type Execution = z.infer<typeof Execution>;
type Outcome = Pick<Execution, "status" | "output" | "error" | "cause">;

/** One try of one task, as a test's interceptor sees it. `attempt` counts the tries since the task last succeeded in this execution. */
export interface TaskCall {
  machine: string;
  execution: string;
  task: string;
  payload: unknown;
  attempt: number;
}

/** Where an execution is recorded: a file each, replaced whole, so that a crash leaves the old or the new. */
interface Records {
  load: () => Promise<Execution[]>;
  save: (record: Execution) => Promise<void>;
  remove: (arn: string) => Promise<void>;
}

function recordsIn(directory: string | undefined): Records {
  if (directory === undefined) return { load: async () => [], save: async () => undefined, remove: async () => undefined };
  const fileOf = (arn: string): string => join(directory, `${createHash("sha256").update(arn).digest("hex").slice(0, 32)}.json`);
  return {
    load: async () => {
      await mkdir(directory, { recursive: true });
      const files = (await readdir(directory)).filter((file) => file.endsWith(".json"));
      return Promise.all(
        files.map(async (file) => {
          const parsed = Execution.safeParse(JSON.parse(await readFile(join(directory, file), "utf8")));
          if (!parsed.success) throw new LocalError(`${join(directory, file)} is no record of an execution: move it away`);
          return parsed.data;
        }),
      );
    },
    save: async (record) => {
      const file = fileOf(record.executionArn);
      await writeFile(`${file}.tmp`, JSON.stringify(record), { flush: true });
      await rename(`${file}.tmp`, file);
    },
    remove: (arn) => rm(fileOf(arn), { force: true }),
  };
}

const requests = {
  start: z.object({ stateMachineArn: z.string(), name: z.string().optional(), input: z.string().default("{}") }),
  one: z.object({ executionArn: z.string() }),
  stop: z.object({ executionArn: z.string(), error: z.string().optional(), cause: z.string().optional() }),
  list: z.object({
    stateMachineArn: z.string(),
    statusFilter: Status.optional(),
    maxResults: z.number().default(100),
    nextToken: z.string().optional(),
  }),
};

function parse<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new AwsFault("ValidationException", z.prettifyError(parsed.error));
  return parsed.data;
}

const seconds = (milliseconds: number): number => milliseconds / 1000;
const NAME = /^[^\s<>{}[\]?*"#%\\^|~`$&,;:/\p{Cc}]{1,80}$/u;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** An error as the interpreter matches it by name; its message becomes the Cause, which on AWS is the function's response as JSON. */
function taskError(error: unknown): Error {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const trace = error instanceof FunctionError ? { trace: error.trace } : {};
  return new FunctionError(name, JSON.stringify({ errorType: name, errorMessage: message, ...trace }));
}

/** States.DataLimitExceeded passes by every Retry and Catch, States.ALL included; the interpreter reads that off the error. */
const tooLarge = (task: string): Error =>
  Object.assign(new FunctionError("States.DataLimitExceeded", `The result of ${task} is over ${DATA_LIMIT_BYTES} bytes`), {
    isRetryable: false,
    isCatchable: false,
  });

function failureOf(error: unknown): Outcome {
  if (error instanceof ExecutionTimeoutError) return { status: "TIMED_OUT" };
  if (error instanceof ExecutionAbortedError) return { status: "ABORTED" };
  const first = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(first instanceof Error)) return { status: "FAILED", cause: String(first) };
  // What the interpreter calls the error of a Fail state that names none.
  return first.name === "FailStateError" ? { status: "FAILED" } : { status: "FAILED", error: first.name, cause: first.message };
}

export type States = Pick<Hooks<TaskCall>, "intercept"> & {
  /** The service's actions, as the bodies of its JSON protocol. Throws AwsFault. */
  handle: (action: string, body: unknown) => Promise<unknown>;
  /** Starts again what the last process left running, and announces the ends that it did not get to. */
  resume: () => void;
  executions: () => Execution[];
  /** Resolves when nothing runs and every end was announced and taken. */
  settled: () => Promise<void>;
  /** Lets go of what runs; it stays recorded as running. Await settled() once its functions have ended. */
  stop: () => void;
};

export async function startStates(options: {
  machines: StateMachine[];
  invoke: (functionName: string, payload: unknown) => Promise<unknown>;
  emit: (event: Event) => Promise<void>;
  log: (line: string) => void;
  dataDir?: string | undefined;
  /** Multiplies waits and pauses before retries, not timeouts; 0 means none. */
  timeScale: number;
}): Promise<States> {
  const { intercept, run } = hooks<TaskCall>();
  const records = recordsIn(options.dataDir === undefined ? undefined : join(options.dataDir, "executions"));
  const machines = new Map(
    options.machines.map((machine) => [machine.arn, { ...machine, ...runnable(machine, options.timeScale) }]),
  );
  const executions = new Map((await records.load()).map((record) => [record.executionArn, record]));
  const aborts = new Map<string, (outcome: Outcome) => void>();
  const written = new Map<string, Promise<void>>();
  const pending = new Set<Promise<void>>();
  let stopped = false;
  let ended = 0;

  function track(work: Promise<void>): void {
    const guarded: Promise<void> = work
      .catch((error: unknown) => options.log(`states: ${String(error)}`))
      .finally(() => pending.delete(guarded));
    pending.add(guarded);
  }

  async function prune(): Promise<void> {
    const oldest = Date.now() - KEPT_DAYS * 86_400_000;
    const done = [...executions.values()]
      .filter((each) => each.announced)
      .toSorted((a, b) => (b.stopDate ?? 0) - (a.stopDate ?? 0));
    const old = done.filter(({ stopDate }, index) => index >= KEPT_COUNT || (stopDate ?? 0) < oldest);
    for (const { executionArn } of old) {
      executions.delete(executionArn);
      await records.remove(executionArn);
    }
  }

  async function emit(record: Execution): Promise<void> {
    const { executionArn, stateMachineArn, name, status, startDate, stopDate, input, output, error, cause } = record;
    const detail = { executionArn, stateMachineArn, name, status, startDate, stopDate: stopDate ?? null, input };
    const end = { output: output ?? null, error: error ?? null, cause: cause ?? null, inputDetails: { included: true } };
    const type = "Step Functions Execution Status Change";
    await options.emit({ source: "aws.states", "detail-type": type, resources: [executionArn], detail: { ...detail, ...end } });
  }

  async function announce(record: Execution): Promise<void> {
    await emit(record);
    if (stopped) return;
    record.announced = true;
    await records.save(record);
    ended += 1;
    if (ended % PRUNE_EVERY === 0) await prune();
  }

  async function end(record: Execution, outcome: Outcome): Promise<void> {
    Object.assign(record, { ...outcome, stopDate: Date.now() });
    await records.save(record);
    await announce(record);
  }

  function handlersOf(record: Execution, machine: StateMachine & Runnable, signal: AbortSignal) {
    const tries = new Map<string, number>();
    const task = async (name: string, functionArn: string, payload: unknown) => {
      // The interpreter may still retry a task of an execution that it has given up.
      signal.throwIfAborted();
      const attempt = (tries.get(name) ?? 0) + 1;
      tries.set(name, attempt);
      const call = { machine: machine.name, execution: record.name, task: name, payload, attempt };
      const result = await run(call, (changed) => options.invoke(functionArn, changed.payload)).catch((error: unknown) => {
        throw taskError(error);
      });
      tries.delete(name);
      const text = JSON.stringify(result) ?? "null";
      if (Buffer.byteLength(text) > DATA_LIMIT_BYTES) throw tooLarge(name);
      return z.json().parse(JSON.parse(text));
    };
    const wait = async (payload: unknown) => {
      const parsed = z.object({ seconds: z.number().nonnegative() }).parse(payload);
      await sleep(parsed.seconds * 1000 * options.timeScale, undefined, { signal });
      return null;
    };
    return Object.fromEntries([
      ...Object.entries(machine.tasks).map(([name, arn]) => [name, (payload: unknown) => task(name, arn, payload)] as const),
      ...machine.waits.map((name) => [name, wait] as const),
    ]);
  }

  async function execute(record: Execution, machine: StateMachine & Runnable): Promise<void> {
    const controller = new AbortController();
    const { result, abort } = machine.interpreter.run(JSON.parse(record.input), {
      overrides: { taskResourceLocalHandlers: handlersOf(record, machine, controller.signal) },
      context: {
        Execution: { Id: record.executionArn, Name: record.name, RoleArn: machine.role },
        StateMachine: { Id: machine.arn, Name: machine.name },
      },
    });
    let stoppedWith: Outcome | undefined;
    aborts.set(record.executionArn, (outcome) => {
      stoppedWith ??= outcome;
      abort();
    });
    const outcome = await result.then((output): Outcome => ({ status: "SUCCEEDED", output: JSON.stringify(output) }), failureOf);
    controller.abort();
    aborts.delete(record.executionArn);
    if (!stopped) await end(record, stoppedWith ?? outcome);
  }

  /** Its TimeoutSeconds begin anew when it is started again: the time in which nothing ran is nobody's fault. */
  function begin(record: Execution): void {
    const machine = machines.get(record.stateMachineArn);
    track(emit(record));
    if (machine) track(execute(record, machine));
    else track(end(record, { status: "ABORTED", error: "StateMachineDeleted", cause: `${record.stateMachineArn} is gone` }));
  }

  function find(body: unknown): Execution {
    const { executionArn } = parse(requests.one, body);
    const found = executions.get(executionArn);
    if (!found) throw new AwsFault("ExecutionDoesNotExist", `Execution Does Not Exist: '${executionArn}'`);
    return found;
  }

  function machineOf(arn: string): StateMachine {
    const machine = machines.get(arn);
    if (!machine) throw new AwsFault("StateMachineDoesNotExist", `State Machine Does Not Exist: '${arn}'`);
    return machine;
  }

  async function start(body: unknown): Promise<unknown> {
    const { stateMachineArn, name = randomUUID(), input } = parse(requests.start, body);
    const machine = machineOf(stateMachineArn);
    if (!NAME.test(name)) throw new AwsFault("InvalidName", `Invalid Name: '${name}'`);
    if (Buffer.byteLength(input) > DATA_LIMIT_BYTES)
      throw new AwsFault(
        "ValidationException",
        `Value at 'input' failed to satisfy constraint: Member must have length less than or equal to ${DATA_LIMIT_BYTES}`,
      );
    if (!isJson(input)) throw new AwsFault("InvalidExecutionInput", "Invalid State Machine Execution Input: it is not JSON");
    const executionArn = machine.arn.replace(":stateMachine:", ":execution:").concat(":", name);
    const before = executions.get(executionArn);
    if (before && (before.status !== "RUNNING" || before.input !== input))
      throw new AwsFault("ExecutionAlreadyExists", `Execution Already Exists: '${executionArn}'`);
    if (before) {
      await written.get(executionArn);
      return { executionArn, startDate: seconds(before.startDate) };
    }
    const startDate = Date.now();
    const record: Execution = { executionArn, stateMachineArn, name, input, status: "RUNNING", startDate, announced: false };
    // The name is taken before the write, and nobody is told that it runs before the write has succeeded.
    executions.set(executionArn, record);
    const saved = records.save(record);
    written.set(executionArn, saved);
    try {
      await saved;
    } catch (cause) {
      executions.delete(executionArn);
      throw cause;
    } finally {
      written.delete(executionArn);
    }
    begin(record);
    return { executionArn, startDate: seconds(startDate) };
  }

  function describe(body: unknown): unknown {
    const { announced: _, startDate, stopDate, ...rest } = find(body);
    const dates = { startDate: seconds(startDate), ...(stopDate === undefined ? {} : { stopDate: seconds(stopDate) }) };
    return { ...rest, ...dates, redriveCount: 0, redriveStatus: "NOT_REDRIVABLE" };
  }

  function stopOne(body: unknown): unknown {
    const { error, cause } = parse(requests.stop, body);
    aborts.get(find(body).executionArn)?.({
      status: "ABORTED",
      ...(error === undefined ? {} : { error }),
      ...(cause === undefined ? {} : { cause }),
    });
    return { stopDate: seconds(Date.now()) };
  }

  function list(body: unknown): unknown {
    const { stateMachineArn, statusFilter, maxResults, nextToken = "0" } = parse(requests.list, body);
    machineOf(stateMachineArn);
    const all = [...executions.values()]
      .filter((each) => each.stateMachineArn === stateMachineArn && (statusFilter === undefined || each.status === statusFilter))
      .toSorted((a, b) => b.startDate - a.startDate);
    const from = Number(nextToken);
    const page = all.slice(from, from + (maxResults || 100));
    const next = from + page.length;
    return {
      executions: page.map(({ executionArn, name, status, startDate, stopDate }) => ({
        executionArn,
        stateMachineArn,
        name,
        status,
        startDate: seconds(startDate),
        ...(stopDate === undefined ? {} : { stopDate: seconds(stopDate) }),
      })),
      ...(next < all.length ? { nextToken: String(next) } : {}),
    };
  }

  await prune();
  return {
    intercept,
    handle: async (action, body) => {
      switch (action) {
        case "StartExecution":
          return start(body);
        case "DescribeExecution":
          return describe(body);
        case "StopExecution":
          return stopOne(body);
        case "ListExecutions":
          return list(body);
        default:
          throw new AwsFault("UnknownOperationException", `The local Step Functions does not know ${action}`);
      }
    },
    resume: () => {
      for (const record of executions.values()) {
        if (record.status === "RUNNING") begin(record);
        else if (!record.announced) track(announce(record));
      }
    },
    executions: () => [...executions.values()],
    settled: async () => {
      while (pending.size > 0) await Promise.all(pending);
    },
    stop: () => {
      stopped = true;
      for (const abort of aborts.values()) abort({ status: "ABORTED" });
    },
  };
}
