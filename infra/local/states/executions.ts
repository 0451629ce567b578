// Executions from their start to the event of their end, recorded at each step.
import type { Event } from "../events/events.ts";
import type { Execution, Outcome, Records } from "./records.ts";
import { runExecution, type RunnableMachine, type Runtime } from "./run-execution.ts";
import { DAY_MS } from "../../../shared/domain/durations.ts";

// Step Functions keeps 90 days of history, too. The number limits what a start has to read: 10,000 files in half a second.
const KEPT_DAYS = 90;
const KEPT_COUNT = 10_000;
const PRUNE_EVERY = 500;

interface Options {
  machines: ReadonlyMap<string, RunnableMachine>;
  runtime: Runtime;
  records: Records;
  emit: (event: Event) => Promise<void>;
  log: (line: string) => void;
}

export interface Executions {
  get: (executionArn: string) => Execution | undefined;
  all: () => Execution[];
  /** Starts an execution once per ARN: a second start returns the first one's execution. */
  start: (request: Pick<Execution, "executionArn" | "stateMachineArn" | "name" | "input">) => Promise<Execution>;
  abort: (execution: Execution, outcome: Outcome) => void;
  /** Restarts what the last process left running, and publishes the ends that it did not get to. */
  resume: () => void;
  /** Resolves when nothing runs, and every end was published and taken. */
  settled: () => Promise<void>;
  /** Abandons what runs, which stays recorded as running. Await settled() once its functions have ended. */
  stop: () => void;
}

export async function openExecutions(options: Options): Promise<Executions> {
  const { machines, records, emit } = options;
  const executions = new Map((await records.load()).map((record) => [record.executionArn, record]));
  const aborts = new Map<string, (outcome: Outcome) => void>();
  const work = pendingWork(options.log);
  const announce = announcer(executions, options);
  await prune(executions, records);
  let stopped = false;

  async function end(record: Execution, outcome: Outcome): Promise<void> {
    Object.assign(record, { ...outcome, stopDate: Date.now() });
    await records.save(record);
    await announce(record, () => stopped);
  }

  async function execute(record: Execution, machine: RunnableMachine): Promise<void> {
    const { outcome, abort } = runExecution(record, machine, options.runtime);
    aborts.set(record.executionArn, abort);
    const reached = await outcome;
    aborts.delete(record.executionArn);
    if (!stopped) await end(record, reached);
  }

  /** Its TimeoutSeconds start again after a restart: the downtime does not count. */
  function begin(record: Execution): void {
    const machine = machines.get(record.stateMachineArn);
    work.track(emit(statusChange(record)));
    if (machine) work.track(execute(record, machine));
    else work.track(end(record, { status: "ABORTED", error: "StateMachineDeleted", cause: `${record.stateMachineArn} is gone` }));
  }

  return {
    get: (executionArn) => executions.get(executionArn),
    all: () => [...executions.values()],
    start: starter(executions, records, begin),
    abort: ({ executionArn }, outcome) => aborts.get(executionArn)?.(outcome),
    resume: () => {
      for (const record of executions.values()) {
        if (record.status === "RUNNING") begin(record);
        else if (!record.announced) work.track(announce(record, () => stopped));
      }
    },
    settled: work.settled,
    stop: () => {
      stopped = true;
      for (const abort of aborts.values()) abort({ status: "ABORTED" });
    },
  };
}

function starter(executions: Map<string, Execution>, records: Records, begin: (record: Execution) => void): Executions["start"] {
  const written = new Map<string, Promise<void>>();
  return async (request) => {
    const { executionArn } = request;
    const before = executions.get(executionArn);
    if (before) {
      await written.get(executionArn);
      return before;
    }
    const record: Execution = { ...request, status: "RUNNING", startDate: Date.now(), announced: false };
    // The name is reserved before the write, and nobody learns of the execution before the write has succeeded.
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
    return record;
  };
}

function statusChange(record: Execution): Event {
  const { executionArn, stateMachineArn, name, status, startDate, stopDate, input, output, error, cause } = record;
  const detail = { executionArn, stateMachineArn, name, status, startDate, stopDate: stopDate ?? null, input };
  const end = { output: output ?? null, error: error ?? null, cause: cause ?? null, inputDetails: { included: true } };
  const type = "Step Functions Execution Status Change";
  return { source: "aws.states", "detail-type": type, resources: [executionArn], detail: { ...detail, ...end } };
}

/** Publishes the event of an end and records its delivery; sometimes removes old executions. */
function announcer(executions: Map<string, Execution>, { emit, records }: Options) {
  let announced = 0;
  return async (record: Execution, isStopped: () => boolean): Promise<void> => {
    await emit(statusChange(record));
    if (isStopped()) return;
    record.announced = true;
    await records.save(record);
    announced += 1;
    if (announced % PRUNE_EVERY === 0) await prune(executions, records);
  };
}

async function prune(executions: Map<string, Execution>, records: Records): Promise<void> {
  const oldest = Date.now() - KEPT_DAYS * DAY_MS;
  const endedExecutions = [...executions.values()]
    .filter((each) => each.announced)
    .toSorted((a, b) => (b.stopDate ?? 0) - (a.stopDate ?? 0));
  const old = endedExecutions.filter(({ stopDate }, index) => index >= KEPT_COUNT || (stopDate ?? 0) < oldest);
  for (const { executionArn } of old) {
    executions.delete(executionArn);
    await records.remove(executionArn);
  }
}

function pendingWork(log: (line: string) => void) {
  const pending = new Set<Promise<void>>();
  return {
    track: (work: Promise<void>): void => {
      const guarded: Promise<void> = work
        .catch((error: unknown) => log(`states: ${String(error)}`))
        .finally(() => pending.delete(guarded));
      pending.add(guarded);
    },
    settled: async (): Promise<void> => {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}
