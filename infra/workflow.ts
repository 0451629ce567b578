// Builds a state machine from a workflow's table: every step with its retries, and the undos of what may have been done, in
// reverse.
import { Duration, Validations } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role } from "aws-cdk-lib/aws-iam";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import type { LogGroup } from "aws-cdk-lib/aws-logs";
import {
  Choice,
  Condition,
  DefinitionBody,
  Errors,
  type IChainable,
  JitterType,
  JsonPath,
  LogLevel,
  type RetryProps,
  StateMachine,
  TaskInput,
} from "aws-cdk-lib/aws-stepfunctions";
import { LambdaInvoke } from "aws-cdk-lib/aws-stepfunctions-tasks";
import { Construct } from "constructs";
import { type Poll, type Step, WAIT_GROWTH, WAIT_SECONDS_MAX, listWaits, type Workflow } from "../shared/domain/workflow.ts";
import { LAMBDA_MINUTES_MAX } from "./function.ts";
import { serviceForUs } from "./principals.ts";
import type { PollLimits } from "./settings.ts";

/** "Not now", of a provider, a host or the table: waits of 2 to 64 s, together 126 s at most, half of that as a rule. */
const TRY_AGAIN: RetryProps = {
  errors: ["TryAgain"],
  interval: Duration.seconds(2),
  backoffRate: 2,
  maxAttempts: 6,
  jitterStrategy: JitterType.FULL,
};

/**
 * What is not undone stays and may cost money: waits of 2, 4, 8 and 16 s, then 56 of 30 s, together 28.5 minutes at most, half of
 * that as a rule; the second execution has as many again. What a machine could not undo is a new job with each try.
 */
const TRY_UNDOING_AGAIN: RetryProps = { ...TRY_AGAIN, maxAttempts: 60, maxDelay: Duration.seconds(30) };

/** Lambda's own errors, when the function did not run or its response was lost: as long as `TRY_AGAIN`. */
const INVOKE_ERRORS = [
  "Lambda.ClientExecutionTimeoutException",
  "Lambda.ServiceException",
  "Lambda.AWSLambdaException",
  "Lambda.SdkClientException",
];
const INVOKE_AGAIN: RetryProps = { ...TRY_AGAIN, errors: INVOKE_ERRORS };

/**
 * The account runs no more functions at once. Anything in the account may use up its quota for minutes, and work that is done
 * would be undone if its last state gave up: as long as `TRY_UNDOING_AGAIN`.
 */
const THROTTLED = "Lambda.TooManyRequestsException";
const THROTTLED_AGAIN: RetryProps = { ...TRY_UNDOING_AGAIN, errors: [THROTTLED] };

/**
 * A poll is one state whose retries are its waits: each costs one transition, where a state to wait and one to choose cost three.
 * What may pass is waited for in the same way, until the poll's time is over: the retries of a visit of a state have one count
 * for each retrier.
 */
const pollAgain = (poll: Poll): RetryProps => ({
  errors: ["NotYet", "TryAgain", ...INVOKE_ERRORS, THROTTLED],
  interval: Duration.seconds(poll.firstWaitSeconds),
  backoffRate: WAIT_GROWTH,
  maxDelay: Duration.seconds(WAIT_SECONDS_MAX),
  maxAttempts: listWaits(poll).length,
});

/** A function that ran out of time or memory: every task may run twice, but one that fails three times will not succeed. */
const RUN_AGAIN: RetryProps = {
  ...TRY_AGAIN,
  errors: ["Lambda.Unknown", "Sandbox.Timedout", "Runtime.ExitError", "Runtime.OutOfMemory"],
  maxAttempts: 2,
};

/** A poll of hours has more runs that something may befall. */
const RUN_POLL_AGAIN: RetryProps = { ...RUN_AGAIN, maxAttempts: 5 };

/** What every state but a poll retries besides `TryAgain`. */
const FUNCTION_AGAIN = [INVOKE_AGAIN, THROTTLED_AGAIN, RUN_AGAIN];

/** Tries of a function that dies: one and two retries. */
const RUNS = 3;
const POLL_RUNS = 6;
/** Longest sum of the waits between tries, rounded up: of a step 2.1 with 2.1, 28.5 and 0.1; of an undo 28.5 with the same. */
const RETRY_MINUTES = 33;
const UNDO_MINUTES = 60;
/** The longest sum of the waits between tries of a poll, in addition to those of its time limit. */
const POLL_RETRY_MINUTES = 2;
/**
 * With `ASK_MINUTES` for a try, `begin` takes up to 48 minutes as a step, and `succeed` or `fail` 75 as an undo. The rest is for
 * the state machine's own states.
 */
const MARGIN_MINUTES = 130;

/** A poll takes seconds, but may meet a host that responds slowly. */
const ASK_MINUTES = 5;

/** How long the workflow's function may run: as long as its longest step. */
export const taskTimeout = ({ steps }: Workflow): Duration =>
  Duration.minutes(
    Math.min(LAMBDA_MINUTES_MAX, Math.max(ASK_MINUTES, ...steps.map((each) => (each.kind === "step" ? each.minutes : 0)))),
  );

/**
 * The last resort, if nothing else ends it: every limit at its worst (twice a poll's time, because asks take time, too), and
 * everything undone after that.
 */
function machineTimeout(workflow: Workflow): Duration {
  const undoing = UNDO_MINUTES + RUNS * ASK_MINUTES;
  const minutes = workflow.steps.map((each) => {
    const doing =
      each.kind === "step"
        ? RUNS * each.minutes + RETRY_MINUTES
        : 2 * each.upToMinutes + POLL_RUNS * ASK_MINUTES + POLL_RETRY_MINUTES;
    return doing + (each.undo === undefined ? 0 : undoing);
  });
  return Duration.minutes(minutes.reduce((sum, each) => sum + each, MARGIN_MINUTES));
}

interface WorkflowMachineProps {
  name: string;
  workflow: Workflow;
  tasks: LambdaFunction;
  logGroup: LogGroup;
  /** Replaces the table's own. */
  polls: PollLimits | undefined;
}

/**
 * A flag that an execution's input may lack, as that of an earlier version does: its path alone would end the execution at once.
 */
const isSet = (flag: string): Condition =>
  Condition.and(Condition.isPresent(`$.${flag}`), Condition.booleanEquals(`$.${flag}`, true));

/** Retries of undos and last states: what isn't undone stays, and finished work would be undone if its last state gave up. */
const LAST_AGAIN = [TRY_UNDOING_AGAIN, ...FUNCTION_AGAIN];

/**
 * The machine's input is the workflow's own: ids and flags. With `undo_only` (and the `error` that made it necessary) nothing is
 * done but undone: the second execution, after one that died. Every task gets the input, once a step has failed with its `error`.
 *
 * A failure that was undone is an execution that SUCCEEDED, in the state `fail`: the operation reports it, and if the failure is
 * our fault (`INTERNAL_ERROR`), an alarm does. Every other end is our fault: it starts the second execution and triggers an
 * alarm.
 */
export class WorkflowMachine extends Construct {
  readonly machine: StateMachine;
  private readonly tasks: LambdaFunction;
  private readonly polls: PollLimits | undefined;

  constructor(scope: Construct, id: string, { name, workflow, tasks, logGroup, polls }: WorkflowMachineProps) {
    super(scope, id);
    this.tasks = tasks;
    this.polls = polls;
    this.machine = new StateMachine(this, "machine", {
      stateMachineName: name,
      definitionBody: DefinitionBody.fromChainable(this.definition(workflow)),
      timeout: machineTimeout(workflow),
      role: this.role(tasks).withoutPolicyUpdates(),
      // The log has no data: IDs are enough to find the operation, which has the rest.
      logs: { destination: logGroup, level: LogLevel.ERROR, includeExecutionData: false },
      tracingEnabled: true,
    });
    Validations.of(this.machine).acknowledge({
      id: "AwsSolutions-SF1",
      reason: "Errors are logged; every step of every execution is in Step Functions' own history for 90 days",
    });
  }

  private definition({ steps }: Workflow): IChainable {
    const { undos, all } = this.undoing(steps);
    let next: IChainable = this.task("succeed", { retry: LAST_AGAIN });
    for (const each of steps.toReversed()) next = this.doing(each, next, undos.get(each.name) ?? all);
    return new Choice(this, "undo only?").when(isSet("undo_only"), all).otherwise(this.task("begin").next(next));
  }

  /** The chains of undos: for each step the one that starts with its own undo, or the previous one; and the whole chain. */
  private undoing(steps: Workflow["steps"]): { undos: Map<string, IChainable>; all: IChainable } {
    const undos = new Map<string, IChainable>();
    let all: IChainable = this.task("fail", { retry: LAST_AGAIN });
    const used = new Map<string, number>();
    for (const { name, undo } of steps) {
      if (undo !== undefined) {
        const count = (used.get(undo) ?? 0) + 1;
        used.set(undo, count);
        all = this.task(undo, {
          state: count === 1 ? undo : `${undo} ${count}`,
          retry: LAST_AGAIN,
        }).next(all);
      }
      undos.set(name, all);
    }
    return { undos, all };
  }

  private doing(part: Step | Poll, next: IChainable, undo: IChainable): IChainable {
    const retry = part.kind === "poll" ? [pollAgain(limited(part, this.polls)), RUN_POLL_AGAIN] : undefined;
    const chain = this.task(part.name, { retry }).addCatch(undo, CAUGHT).next(next);
    if (part.when === undefined) return chain;
    return new Choice(this, `${part.name} asked?`).when(isSet(part.when), chain).otherwise(next);
  }

  private task(
    task: string,
    { state = task, retry = [TRY_AGAIN, ...FUNCTION_AGAIN] }: { state?: string; retry?: RetryProps[] | undefined } = {},
  ): LambdaInvoke {
    const invoke = new LambdaInvoke(this, state, {
      lambdaFunction: this.tasks,
      payloadResponseOnly: true,
      payload: TaskInput.fromObject({ task, input: JsonPath.objectAt("$") }),
      resultPath: JsonPath.DISCARD,
      // CDK's list lacks throttling.
      retryOnServiceExceptions: false,
    });
    for (const each of retry) invoke.addRetry(each);
    return invoke;
  }

  private role(tasks: LambdaFunction): Role {
    const statements = [
      new PolicyStatement({ actions: ["lambda:InvokeFunction"], resources: [tasks.functionArn] }),
      new PolicyStatement({ actions: [...LOG_DELIVERY, ...TRACING], resources: ["*"] }),
    ];
    const role = new Role(this, "role", {
      assumedBy: serviceForUs("states.amazonaws.com"),
      inlinePolicies: { access: new PolicyDocument({ statements }) },
    });
    Validations.of(role).acknowledge({
      id: "AwsSolutions-IAM5[Resource::*]",
      reason: "Delivery of a machine's logs and X-Ray have no resources to name",
    });
    return role;
  }
}

const CAUGHT = { errors: [Errors.ALL], resultPath: "$.error" };

const TRACING = ["xray:PutTraceSegments", "xray:PutTelemetryRecords", "xray:GetSamplingRules", "xray:GetSamplingTargets"];
const LOG_DELIVERY = [
  "CreateLogDelivery",
  "GetLogDelivery",
  "UpdateLogDelivery",
  "DeleteLogDelivery",
  "ListLogDeliveries",
  "PutResourcePolicy",
  "DescribeResourcePolicies",
  "DescribeLogGroups",
].map((action) => `logs:${action}`);

/** A poll with the environment's bounds. */
export const limited = (poll: Poll, limits: PollLimits | undefined): Poll => ({
  ...poll,
  upToMinutes: poll.unlimited ? poll.upToMinutes : Math.min(poll.upToMinutes, limits?.upToMinutes ?? poll.upToMinutes),
  firstWaitSeconds: Math.min(poll.firstWaitSeconds, limits?.firstWaitSeconds ?? poll.firstWaitSeconds),
});
