// The synthesized state machines, run by the interpreter: the order of steps and undos.
import { App, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Code, Function as LambdaFunction, Runtime } from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { StateMachine, type StateMachineDefinition } from "aws-local-stepfunctions";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { workflows } from "../../functions/workflows/index.ts";
import { SETTINGS } from "../../infra/settings.ts";
import type { Environment } from "../../shared/domain/environments.ts";
import { JOB_MINUTES } from "../../shared/domain/job-minutes.ts";
import { limited, taskTimeout, WorkflowMachine } from "../../infra/workflow.ts";
import {
  machineVariable,
  type Poll,
  poll,
  rescueName,
  type Step,
  step,
  listWaits,
  workflow,
  type Workflow,
} from "../../shared/domain/workflow.ts";

const ARN = "arn:aws:lambda:us-east-1:000000000000:function:tasks";
const INPUT = { operation_id: "op_1" };

/** Every flag that a workflow's steps may depend on. */
const flagsOf = ({ steps }: Workflow, value: boolean) =>
  Object.fromEntries(steps.flatMap(({ when }) => (when === undefined ? [] : [[when, value]])));
const doneBy = ({ steps }: Workflow): string[] => steps.map(({ name }) => name);
const undone = (steps: readonly (Step | Poll)[]): string[] => steps.flatMap(({ undo }) => undo ?? []).toReversed();

const state = z.looseObject({
  Type: z.string(),
  Retry: z
    .array(
      z.looseObject({
        ErrorEquals: z.array(z.string()),
        IntervalSeconds: z.number(),
        BackoffRate: z.number(),
        MaxDelaySeconds: z.number().optional(),
        MaxAttempts: z.number(),
      }),
    )
    .default([]),
});
const asl = z.looseObject({ StartAt: z.string(), TimeoutSeconds: z.number(), States: z.record(z.string(), state) });
const isDefinition = (value: unknown): value is StateMachineDefinition => asl.safeParse(value).success;

const definitions = { test: new Map<Workflow, StateMachineDefinition>(), live: new Map<Workflow, StateMachineDefinition>() };

function definitionOf(table: Workflow, environment: Environment = "test"): StateMachineDefinition {
  const definition = definitions[environment].get(table) ?? synthesized(table, environment);
  definitions[environment].set(table, definition);
  return definition;
}

function templateOf(table: Workflow, { polls }: Pick<(typeof SETTINGS)[Environment], "polls">): Template {
  const stack = new Stack(new App(), "stack");
  const code = Code.fromInline("exports.handler = async () => null");
  const tasks = new LambdaFunction(stack, "tasks", { code, handler: "index.handler", runtime: Runtime.NODEJS_24_X });
  const logGroup = new LogGroup(stack, "log");
  void new WorkflowMachine(stack, "machine", { name: "machine", workflow: table, tasks, logGroup, polls });
  return Template.fromStack(stack);
}

function synthesized(table: Workflow, environment: Environment): StateMachineDefinition {
  const machines = Object.values(templateOf(table, SETTINGS[environment]).findResources("AWS::StepFunctions::StateMachine"));
  const parsed = z
    .array(
      z.object({
        Properties: z.object({ DefinitionString: z.object({ "Fn::Join": z.tuple([z.string(), z.array(z.json())]) }) }),
      }),
    )
    .parse(machines);
  const parts = parsed[0]?.Properties.DefinitionString["Fn::Join"][1] ?? [];
  const definition: unknown = JSON.parse(parts.map((part) => (typeof part === "string" ? part : ARN)).join(""));
  if (!isDefinition(definition)) throw new Error("The machine has no definition");
  return definition;
}

const payloadOf = z.looseObject({
  task: z.string(),
  input: z.record(z.string(), z.json()),
});
type Call = z.infer<typeof payloadOf>;

class Named extends Error {
  constructor(name: string) {
    super(`${name} happened`);
    this.name = name;
  }
}

/** Runs a state machine; `respond` does the tasks: a task succeeds at once unless that throws. */
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
    await respond(call, calls.filter(({ task }) => task === call.task).length);
    return null;
  };
  const ofType = <T>(type: string, value: T) =>
    Object.fromEntries(Object.entries(States).flatMap(([name, { Type }]) => (Type === type ? [[name, value]] : [])));
  // The definition is not validated for each run, which costs a third of a second: those of all workflows are, where the
  // templates are tested.
  const { result } = new StateMachine(definition, { validationOptions: { noValidate: true } }).run(
    { ...INPUT, ...input },
    {
      overrides: {
        taskResourceLocalHandlers: ofType("Task", handler),
        retryIntervalOverrides: ofType("Task", 0),
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
      const begunSteps = table.steps.slice(0, index + 1);
      expect(tasks).toEqual(["begin", ...begunSteps.map(({ name }) => name), ...undone(begunSteps), "fail"]);
      expect(calls.at(-1)?.input["error"]).toMatchObject({ Error: "PROVIDER_ERROR" });
      expect(outcome).toBe("SUCCEEDED");
    }
  });

  it("an execution that is asked to undo undoes everything and does nothing", async () => {
    const error = { Error: "States.Timeout", Cause: "It took too long" };
    const { tasks, calls } = await run(table, { undo_only: true, error });
    expect(tasks).toEqual([...undone(table.steps), "fail"]);
    expect(calls.at(-1)?.input["error"]).toEqual(error);
  });

  it("the state machine stays under 15,000 of the 25,000 events of an execution, with every poll and retry at its limit", () => {
    const { States } = asl.parse(definitionOf(table));
    // A task is 5 events, a choice 2, each retry 3; the rest of the 25,000 is a reserve.
    const retries = Object.values(States).flatMap(({ Retry }) => Retry.map(({ MaxAttempts }) => 3 * MaxAttempts));
    const rest = 5 * Object.keys(States).length;
    expect(retries.reduce((sum, each) => sum + each, rest)).toBeLessThan(15_000);
  });
});

/** The billed transitions of an execution whose polls are ready after so many seconds: its start, each state and each retry. */
function transitions(table: Workflow, seconds: Readonly<Record<string, number>>): number {
  const { States } = asl.parse(definitionOf(table, "live"));
  const waited = table.steps.map(({ name }) => {
    const [retrier] = States[name]?.Retry ?? [];
    const { IntervalSeconds = 1, BackoffRate = 1, MaxDelaySeconds = 1 } = retrier ?? {};
    let count = 0;
    for (let elapsed = 0; elapsed < (seconds[name] ?? 0); count++)
      elapsed += Math.min(MaxDelaySeconds, IntervalSeconds * BackoffRate ** count);
    return count;
  });
  const visited = ["start", "undo only?", "begin", ...doneBy(table), "succeed"];
  return visited.length + waited.reduce((sum, each) => sum + each, 0);
}

it.each([
  ["create-server", { awaitMachine: 60, prepareHost: 120 }, 21],
  ["create-backup", { makeArchive: 30 * 60 }, 51],
  ["create-backup", { makeArchive: 60 }, 19],
] as const)("%s with waits of %o seconds takes %i transitions", (name, seconds, count) => {
  expect(transitions(workflows[name], seconds)).toBe(count);
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

it("a poll is repeated until it is ready", async () => {
  const { tasks, outcome } = await run(TABLE, { third_wanted: false }, ({ task }, count) => {
    if (task === "second" && count < 3) throw new Named("NotYet");
  });
  expect(tasks).toEqual(["begin", "first", "second", "second", "second", "fourth", "succeed"]);
  expect(outcome).toBe("SUCCEEDED");
});

it("a poll that never gets ready, or whose error persists, is undone when its time is over", async () => {
  const tries = 1 + listWaits(limited(TABLE.steps[1], SETTINGS.test.polls)).length;
  for (const error of ["NotYet", "TryAgain", "Lambda.TooManyRequestsException"]) {
    const { tasks, calls } = await run(TABLE, { third_wanted: false }, ({ task }) => {
      if (task === "second") throw new Named(error);
    });
    expect(tasks.filter((task) => task === "second")).toHaveLength(tries);
    expect(tasks.slice(-3)).toEqual(["unSecond", "unFirst", "fail"]);
    expect(calls.at(-1)?.input["error"]).toMatchObject({ Error: error });
  }
});

it("the waits between polls are those that the tables assume", () => {
  const [retrier] = asl.parse(definitionOf(TABLE)).States["second"]?.Retry ?? [];
  expect(retrier).toMatchObject({ IntervalSeconds: 1, BackoffRate: 1.25, MaxDelaySeconds: 60 });
  expect(retrier).not.toHaveProperty("JitterStrategy");
  expect(retrier?.MaxAttempts).toBe(listWaits({ upToMinutes: 3, firstWaitSeconds: 1 }).length);
});

it("a poll asks soon at first, and never much later than the work took", () => {
  const waits = listWaits({ upToMinutes: 120, firstWaitSeconds: 1 });
  let elapsed = 0;
  for (const wait of waits) {
    expect(wait).toBeLessThanOrEqual(Math.min(60, 1 + elapsed / 4));
    elapsed += wait;
  }
  expect(waits).toHaveLength(135);
});

it.each([3, 10, 30, 120, 240])("a poll of %d minutes asks for the last time when they are over", (minutes) => {
  const sum = listWaits({ upToMinutes: minutes, firstWaitSeconds: 1 }).reduce((all, wait) => all + wait, 0);
  expect(sum).toBeGreaterThanOrEqual(minutes * 60);
  expect(sum).toBeLessThan(minutes * 60 + 60);
});

it("a poll does not wait again when its time is exactly over", () => {
  expect(listWaits({ upToMinutes: 2, firstWaitSeconds: 60 })).toEqual([60, 60]);
});

it("a poll has the table's own time in live", () => {
  const [, second] = TABLE.steps;
  expect(limited(second, SETTINGS.live.polls)).toEqual(second);
});

/** The first step, which asks for retries until its `ready`th time. */
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

it.each(["begin", "first", "succeed", "fail", "unSecond"])("%s waits while Lambda runs no more functions", async (busy) => {
  const { tasks, outcome } = await run(TABLE, { third_wanted: false }, ({ task }, count) => {
    if (task === busy && count < 61) throw new Named("Lambda.TooManyRequestsException");
    if (task === "fourth" && (busy === "fail" || busy === "unSecond")) throw new Named("Broken");
  });
  expect(tasks.filter((task) => task === busy)).toHaveLength(61);
  expect(outcome).toBe("SUCCEEDED");
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
    const names = new Set(["begin", "succeed", "fail", ...doneBy(table), ...undone(table.steps)]);
    expect(tasks.filter((task) => !names.has(task))).toEqual([]);
  }
});

describe("a state", () => {
  const LAMBDA = [
    "Lambda.ClientExecutionTimeoutException",
    "Lambda.ServiceException",
    "Lambda.AWSLambdaException",
    "Lambda.SdkClientException",
  ];
  const THROTTLED = "Lambda.TooManyRequestsException";
  const DIED = ["Lambda.Unknown", "Sandbox.Timedout", "Runtime.ExitError", "Runtime.OutOfMemory"];
  const retrier = (ErrorEquals: string[], MaxAttempts: number, more = {}) => ({
    ErrorEquals,
    IntervalSeconds: 2,
    MaxAttempts,
    BackoffRate: 2,
    JitterStrategy: "FULL",
    ...more,
  });
  const patient = (error: string) => retrier([error], 60, { MaxDelaySeconds: 30 });
  const everywhere = [retrier(LAMBDA, 6), patient(THROTTLED), retrier(DIED, 2)];
  const again = [retrier(["TryAgain"], 6), ...everywhere];
  const undoneAgain = [patient("TryAgain"), ...everywhere];
  const polled = [
    {
      ErrorEquals: ["NotYet", "TryAgain", ...LAMBDA, THROTTLED],
      IntervalSeconds: 1,
      MaxAttempts: 35,
      BackoffRate: 1.25,
      MaxDelaySeconds: 60,
    },
    retrier(DIED, 5),
  ];
  const caught = (Next: string) => ({ Catch: [{ ErrorEquals: ["States.ALL"], ResultPath: "$.error", Next }] });

  it.each([
    ["begin", { Next: "first", Retry: again }],
    ["first", { Next: "second", Retry: again, ...caught("unFirst") }],
    ["second", { Next: "third asked?", Retry: polled, ...caught("unSecond") }],
    ["third", { Next: "fourth", Retry: again, ...caught("unSecond") }],
    ["fourth", { Next: "succeed", Retry: again, ...caught("unFirst 2") }],
    ["unSecond", { Next: "unFirst", Retry: undoneAgain }],
    ["succeed", { End: true, Retry: undoneAgain }],
    ["fail", { End: true, Retry: undoneAgain }],
  ])("%s gives its task the input, keeps no result, and has the retries that the timeouts count on", (name, expected) => {
    const { States } = asl.parse(definitionOf(TABLE, "live"));
    const Parameters = { task: name, "input.$": "$" };
    expect(States[name]).toEqual({ Type: "Task", Resource: ARN, ResultPath: null, Parameters, ...expected });
  });

  it.each([
    ["begin", 33],
    ["first", 33],
    ["succeed", 60],
    ["fail", 60],
    ["unSecond", 60],
  ])("the retries of %s wait for at most %i minutes, as the state machine's timeout assumes", (name, minutes) => {
    const retriers = asl.parse(definitionOf(TABLE, "live")).States[name]?.Retry ?? [];
    const seconds = retriers.flatMap(({ MaxAttempts, IntervalSeconds, BackoffRate, MaxDelaySeconds = Infinity }) =>
      Array.from({ length: MaxAttempts }, (_, retry) => Math.min(MaxDelaySeconds, IntervalSeconds * BackoffRate ** retry)),
    );
    expect(Math.ceil(seconds.reduce((sum, each) => sum + each, 0) / 60)).toBe(minutes);
  });

  it("a step that the input of an earlier version does not mention is left out", async () => {
    const { tasks } = await run(TABLE, {});
    expect(tasks).toEqual(["begin", "first", "second", "fourth", "succeed"]);
  });

  it("does the work unless it is asked to undo only", async () => {
    for (const undo_only of [false, null]) {
      const { tasks } = await run(TABLE, { third_wanted: false, undo_only });
      expect(tasks).toEqual(["begin", "first", "second", "fourth", "succeed"]);
    }
  });
});

describe("a state machine", () => {
  const [first, second] = TABLE.steps;
  const template = templateOf({ ...TABLE, steps: [first, second] }, SETTINGS.live);

  it("logs errors without data, is traced, and ends when every limit has been at its worst", () => {
    const [machine] = Object.values(template.findResources("AWS::StepFunctions::StateMachine"));
    expect(machine?.["Properties"]).toMatchObject({
      StateMachineName: "machine",
      LoggingConfiguration: {
        Destinations: [{ CloudWatchLogsLogGroup: {} }],
        IncludeExecutionData: false,
        Level: "ERROR",
      },
      TracingConfiguration: { Enabled: true },
    });
    // Its beginning and its end; a step of 5 minutes, three times, with 33 of retries; a poll of 20, twice, with six tasks of 5
    // and 2 of retries; each with 75 to be undone.
    const minutes = 130 + (3 * 5 + 33 + 75) + (2 * 20 + 6 * 5 + 2 + 75);
    expect(asl.parse(synthesized({ ...TABLE, steps: [first, second] }, "live")).TimeoutSeconds).toBe(60 * minutes);
    const withoutUndo = asl.parse(synthesized({ ...TABLE, steps: [step("only", "", { minutes: 10 })] }, "live"));
    expect(withoutUndo.TimeoutSeconds).toBe(60 * (130 + 3 * 10 + 33));
  });

  it("may call its own function, deliver logs and traces, and nothing else", () => {
    expect(template.findResources("AWS::IAM::Policy")).toEqual({});
    const roles = Object.values(template.findResources("AWS::IAM::Role")).map((role) => JSON.stringify(role));
    const [role = "{}"] = roles.filter((text) => text.includes("states.amazonaws.com"));
    const Delivery = ["Create", "Get", "Update", "Delete"].map((verb) => `logs:${verb}LogDelivery`);
    const Policies = ["logs:PutResourcePolicy", "logs:DescribeResourcePolicies", "logs:DescribeLogGroups"];
    const Tracing = ["PutTraceSegments", "PutTelemetryRecords", "GetSamplingRules", "GetSamplingTargets"].map(
      (each) => `xray:${each}`,
    );
    expect(JSON.parse(role)).toMatchObject({
      Properties: {
        AssumeRolePolicyDocument: { Statement: [{ Principal: { Service: "states.amazonaws.com" } }] },
        Policies: [
          {
            PolicyDocument: {
              Statement: [
                {
                  Action: "lambda:InvokeFunction",
                  Effect: "Allow",
                  Resource: { "Fn::GetAtt": [expect.stringMatching(/^tasks/), "Arn"] },
                },
                { Action: [...Delivery, "logs:ListLogDeliveries", ...Policies, ...Tracing], Effect: "Allow", Resource: "*" },
              ],
            },
          },
        ],
      },
    });
  });
});

it.each([
  [[], 5],
  [[step("one", "", { minutes: 3 })], 5],
  [[step("one", "", { minutes: 7 }), step("two", "", { minutes: 12 }), poll("three", "", { upToMinutes: 90 })], 12],
  [[step("one", "", { minutes: 40 })], 15],
])("the function of %j runs for at most %i minutes: as long as its longest step, and a poll's task 5", (steps, minutes) => {
  expect(taskTimeout({ ...TABLE, steps }).toMinutes()).toBe(minutes);
});

it("a poll has the environment's bounds where they are tighter", () => {
  const patient = poll("patient", "", { upToMinutes: 20, firstWaitSeconds: 30 });
  expect(limited(patient, { upToMinutes: 3, firstWaitSeconds: 1 })).toEqual({ ...patient, upToMinutes: 3, firstWaitSeconds: 1 });
  expect(limited(patient, { upToMinutes: 40, firstWaitSeconds: 60 })).toEqual(patient);
  expect(limited(patient, undefined)).toEqual(patient);
});

it("a step has 5 minutes and a poll looks again after a second, unless the table says otherwise", () => {
  expect(step("one", "One")).toEqual({ kind: "step", name: "one", label: "One", minutes: 5 });
  expect(step("one", "One", { minutes: 9, commits: true })).toMatchObject({ minutes: 9, commits: true });
  const twenty = { upToMinutes: 20 };
  expect(poll("two", "Two", twenty)).toEqual({ kind: "poll", name: "two", label: "Two", firstWaitSeconds: 1, ...twenty });
  expect(poll("two", "Two", { ...twenty, firstWaitSeconds: 7 })).toMatchObject({ firstWaitSeconds: 7 });
});

it("a workflow, its second execution and its machine's variable have the operation's name", () => {
  expect(TABLE.name).toBe("create-server");
  expect(rescueName("op_1")).toBe("op_1-undo");
  expect(machineVariable(TABLE.name)).toBe("CREATE_SERVER_ARN");
  expect(machineVariable("restore-backup")).toBe("RESTORE_BACKUP_ARN");
});

it("whatever was packed and sent in time can be checked and loaded in time", () => {
  const { make_archive, verify_archive, build_restore, restore_archive, drill_archive } = JOB_MINUTES;
  expect(verify_archive).toBeGreaterThanOrEqual(make_archive);
  for (const loads of [build_restore, restore_archive, drill_archive]) expect(loads).toBeGreaterThan(verify_archive);
});
