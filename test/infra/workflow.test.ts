// The state machines, as they are synthesized, run on the interpreter: what follows what, and what is undone.
import { App, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Code, Function as LambdaFunction, Runtime } from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { StateMachine, type StateMachineDefinition } from "aws-local-stepfunctions";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { workflows } from "../../functions/workflows/index.ts";
import { SETTINGS } from "../../infra/settings.ts";
import { limitOf, WorkflowMachine } from "../../infra/workflow.ts";
import {
  attempts,
  type Poll,
  poll,
  type Step,
  step,
  waitsWithin,
  workflow,
  type Workflow,
} from "../../shared/domain/workflow.ts";

const ARN = "arn:aws:lambda:us-east-1:000000000000:function:tasks";
const INPUT = { operation_id: "op_1" };

/** Every flag that a workflow's steps may hang on. */
const flagsOf = ({ steps }: Workflow, value: boolean) =>
  Object.fromEntries(steps.flatMap(({ when }) => (when === undefined ? [] : [[when, value]])));
const doneBy = ({ steps }: Workflow): string[] => steps.map(({ name }) => name);
const undone = (steps: readonly (Step | Poll)[]): string[] => steps.flatMap(({ undo }) => undo ?? []).toReversed();

const state = z.looseObject({
  Type: z.string(),
  Retry: z.array(z.looseObject({ ErrorEquals: z.array(z.string()), MaxAttempts: z.number() })).default([]),
});
const asl = z.looseObject({ StartAt: z.string(), TimeoutSeconds: z.number(), States: z.record(z.string(), state) });
const isDefinition = (value: unknown): value is StateMachineDefinition => asl.safeParse(value).success;

const definitions = new Map<Workflow, StateMachineDefinition>();

function definitionOf(table: Workflow): StateMachineDefinition {
  const known = definitions.get(table) ?? synthesized(table);
  definitions.set(table, known);
  return known;
}

function synthesized(table: Workflow): StateMachineDefinition {
  const { polls } = SETTINGS.test;
  const stack = new Stack(new App(), "stack");
  const code = Code.fromInline("exports.handler = async () => null");
  const tasks = new LambdaFunction(stack, "tasks", { code, handler: "index.handler", runtime: Runtime.NODEJS_24_X });
  const logGroup = new LogGroup(stack, "log");
  void new WorkflowMachine(stack, "machine", { name: "machine", workflow: table, tasks, logGroup, polls });
  const found = Object.values(Template.fromStack(stack).findResources("AWS::StepFunctions::StateMachine"));
  const parsed = z
    .array(
      z.object({
        Properties: z.object({ DefinitionString: z.object({ "Fn::Join": z.tuple([z.string(), z.array(z.json())]) }) }),
      }),
    )
    .parse(found);
  const parts = parsed[0]?.Properties.DefinitionString["Fn::Join"][1] ?? [];
  const definition: unknown = JSON.parse(parts.map((part) => (typeof part === "string" ? part : ARN)).join(""));
  if (!isDefinition(definition)) throw new Error("The machine has no definition");
  return definition;
}

const payloadOf = z.looseObject({
  task: z.string(),
  input: z.record(z.string(), z.json()),
  attempt: z.number().optional(),
  limit: z.number().optional(),
  error: z.json().optional(),
});
type Call = z.infer<typeof payloadOf>;

class Named extends Error {
  constructor(name: string) {
    super(`${name} happened`);
    this.name = name;
  }
}

/** Runs a machine; `answer` is what a task does. Polls are ready at once unless it says otherwise. */
async function run(
  table: Workflow,
  input: Record<string, unknown>,
  respond: (call: Call, count: number) => unknown = () => undefined,
) {
  const definition = definitionOf(table);
  const { States } = asl.parse(definition);
  const calls: Call[] = [];
  const handler = async (payload: unknown) => {
    const call = payloadOf.parse(payload);
    calls.push(call);
    const given = respond(call, calls.filter(({ task }) => task === call.task).length);
    return z.json().parse(given ?? (call.attempt === undefined ? null : { ready: true, attempt: call.attempt + 1 }));
  };
  const named = <T>(type: string, value: T) =>
    Object.fromEntries(Object.entries(States).flatMap(([name, { Type }]) => (Type === type ? [[name, value]] : [])));
  const { result } = new StateMachine(definition).run(
    { ...INPUT, ...input },
    {
      overrides: {
        taskResourceLocalHandlers: named("Task", handler),
        waitTimeOverrides: named("Wait", 0),
        retryIntervalOverrides: named("Task", 0),
      },
    },
  );
  const outcome = await result.then(
    () => "SUCCEEDED",
    (error: unknown) => String(error),
  );
  return { tasks: calls.map(({ task }) => task), calls, outcome };
}

const TABLE = workflow({
  operation: "server.create",
  access: {},
  input: z.object({}),
  steps: [
    step("first", "", { undo: "unFirst" }),
    poll("second", "", { undo: "unSecond", upToMinutes: 20 }),
    step("third", "", { when: "third_wanted" }),
    step("fourth", "", { undo: "unFirst" }),
  ],
});

describe.each(Object.values(workflows))("$name", (table) => {
  it("the state machine does its steps in the table's order", async () => {
    const { tasks, outcome } = await run(table, flagsOf(table, true));
    expect(tasks).toEqual(["begin", ...doneBy(table), "succeed"]);
    expect(outcome).toBe("SUCCEEDED");
  });

  it("whichever step fails, the state machine undoes what may have been done in reverse order, and passes on the error", async () => {
    for (const [index, failing] of table.steps.entries()) {
      const { tasks, calls, outcome } = await run(table, flagsOf(table, true), ({ task }) => {
        if (task === failing.name) throw new Named("PROVIDER_ERROR");
      });
      const begun = table.steps.slice(0, index + 1);
      expect(tasks).toEqual(["begin", ...begun.map(({ name }) => name), ...undone(begun), "fail"]);
      expect(calls.at(-1)?.error).toMatchObject({ Error: "PROVIDER_ERROR" });
      expect(outcome).toBe("SUCCEEDED");
    }
  });

  it("an execution that is asked to undo undoes everything and does nothing", async () => {
    const error = { Error: "States.Timeout", Cause: "It took too long" };
    const { tasks, calls } = await run(table, { undo_only: true, error });
    expect(tasks).toEqual([...undone(table.steps), "fail"]);
    expect(calls.at(-1)?.error).toEqual(error);
  });

  it("the state machine stays under 15,000 of the 25,000 events of an execution, with every poll and retry at its limit", () => {
    const { States } = asl.parse(definitionOf(table));
    // A task is 5 events, a choice 2, a wait 2, each retry 3: of a poll, one ask's; what is left of the 25,000 is for more.
    const retries = Object.values(States).flatMap(({ Retry }) => Retry.map(({ MaxAttempts }) => 3 * MaxAttempts));
    for (const { polls } of Object.values(SETTINGS)) {
      const asks = table.steps.map((each) => (each.kind === "poll" ? 9 * limitOf(each, polls) : 0));
      const rest = 5 * Object.keys(States).length;
      expect([...retries, ...asks].reduce((sum, each) => sum + each, rest)).toBeLessThan(15_000);
    }
  });
});

it("a step is skipped without its flag, and is undone all the same", async () => {
  const { tasks } = await run(TABLE, { third_wanted: false });
  expect(tasks).toEqual(["begin", "first", "second", "fourth", "succeed"]);
});

it("two steps with the same undo are undone twice", async () => {
  const { tasks } = await run(TABLE, { third_wanted: true }, ({ task }) => {
    if (task === "fourth") throw new Named("INTERNAL_ERROR");
  });
  expect(tasks.slice(-4)).toEqual(["unFirst", "unSecond", "unFirst", "fail"]);
});

it("a poll is repeated until it is ready, and knows its limit", async () => {
  const { calls, outcome } = await run(TABLE, { third_wanted: false }, ({ task, attempt = 0 }) =>
    task === "second" ? { ready: attempt === 2, attempt: attempt + 1, wait: 1 } : undefined,
  );
  const asked = calls.filter(({ task }) => task === "second");
  expect(asked.map(({ attempt }) => attempt)).toEqual([0, 1, 2]);
  // Three minutes at most in the test environment.
  expect(asked.map(({ limit }) => limit)).toEqual([29, 29, 29]);
  expect(outcome).toBe("SUCCEEDED");
});

it("a poll asks soon at first, and never much later than the work took", () => {
  const waits = waitsWithin(120);
  expect(waits.slice(0, 12)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2]);
  let passed = 0;
  for (const wait of waits) {
    expect(wait).toBeLessThanOrEqual(passed < 30 ? Math.max(1, Math.min(2, passed / 5)) : Math.min(60, passed / 4));
    passed += wait;
  }
});

it.each([3, 10, 30, 120, 240])("a poll of %d minutes asks for the last time when they are over", (minutes) => {
  expect(waitsWithin(minutes).reduce((sum, wait) => sum + wait, 0)).toBe(minutes * 60);
});

it("a poll of half an hour asks 57 times", () => {
  expect(attempts({ upToMinutes: 30 })).toBe(57);
});

it("a poll has the table's own time in live", () => {
  const [, second] = TABLE.steps;
  expect(limitOf(second, SETTINGS.live.polls)).toBe(47);
});

/** The first step, asking to be tried again until its `ready`th time. */
const busyUntil =
  (ready: number) =>
  ({ task }: Call, count: number): undefined => {
    if (task === "first" && count < ready) throw new Named("TryAgain");
  };

it("a task that throws TryAgain is retried, seven times in all", async () => {
  const patient = await run(TABLE, { third_wanted: false }, busyUntil(7));
  expect(patient.tasks.filter((task) => task === "first")).toHaveLength(7);
  expect(patient.tasks.at(-1)).toBe("succeed");
  const hopeless = await run(TABLE, { third_wanted: false }, busyUntil(99));
  expect(hopeless.tasks.filter((task) => task === "first")).toHaveLength(7);
  expect(hopeless.tasks.at(-1)).toBe("fail");
});

it("an undo is retried more often than a step", async () => {
  const { tasks, outcome } = await run(TABLE, { undo_only: true }, ({ task }, count) => {
    if (task === "unSecond" && count < 61) throw new Named("TryAgain");
  });
  expect(tasks.filter((task) => task === "unSecond")).toHaveLength(61);
  expect(outcome).toBe("SUCCEEDED");
});

it("a second execution without a reason gets one", async () => {
  const { calls } = await run(TABLE, { undo_only: true });
  expect(calls.at(-1)?.error).toMatchObject({ Error: "INTERNAL_ERROR" });
});

it.each(["begin", "succeed", "fail", "unSecond"])("the execution dies when %s fails, and is rescued", async (failing) => {
  const { tasks, outcome } = await run(TABLE, { third_wanted: false }, ({ task }) => {
    const undoing = failing === "fail" || failing === "unSecond";
    if (task === failing || (undoing && task === "fourth")) throw new Named("Broken");
  });
  expect(tasks.at(-1)).toBe(failing);
  expect(outcome).not.toBe("SUCCEEDED");
});

it("task states have the names of their tasks", () => {
  for (const table of Object.values(workflows)) {
    const { States } = asl.parse(definitionOf(table));
    const tasks = Object.entries(States)
      .filter(([, { Type }]) => Type === "Task")
      .map(([state]) => state);
    const known = new Set(["begin", "succeed", "fail", ...doneBy(table), ...undone(table.steps)]);
    expect(tasks.filter((task) => !known.has(task))).toEqual([]);
  }
});
