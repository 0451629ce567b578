// Scheduled work: checking servers, the sweep, what expires, the runs of backup policies, and the rescue of dead executions.
import { ArnFormat, Duration, Stack, Validations } from "aws-cdk-lib";
import { Match, Rule, RuleTargetInput, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction as Target } from "aws-cdk-lib/aws-events-targets";
import type { TableV2 } from "aws-cdk-lib/aws-dynamodb";
import {
  EventSourceMapping,
  FilterCriteria,
  FilterRule,
  type Function as LambdaFunction,
  StartingPosition,
} from "aws-cdk-lib/aws-lambda";
import { SqsDestination } from "aws-cdk-lib/aws-lambda-destinations";
import type { LogGroup } from "aws-cdk-lib/aws-logs";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { ScheduleName } from "./bundle.ts";
import { WORKFLOW_NAMES } from "../shared/domain/lifecycle.ts";
import { type Access, type Functions, LAMBDA_MINUTES_MAX, ONE_PROCESSOR_MEGABYTES } from "./function.ts";
import { DELIVER_SECONDS, RUNS_AT_ONCE } from "./deliveries.ts";
import { MAILS_AT_ONCE, SEND_SECONDS } from "./mail.ts";
import { RESERVED_EACH, stateMachineName, type Settings } from "./settings.ts";
import type { Environment } from "../shared/domain/environments.ts";

interface Timed {
  every: Duration;
  description: string;
  access: Access;
  memoryMegabytes?: number;
  /** How many runs share the work, beside each other; each gets its part as its event. */
  parts?: number;
}

/** Recurring work. A run may take as long as its interval, so two seldom overlap; if they do, both are harmless. */
export const TIMED = {
  "check-servers": {
    every: Duration.minutes(1),
    description: "Checks whether every server and every ERP responds, and restarts ERPs that do not",
    access: { table: "write", starts: ["restart-instance"], keys: ["hosts"], configuration: true },
    // Its time is the processor's: three times as much of it costs the same. Three runs check more than 20,000 servers a minute
    // (docs/scale.md).
    memoryMegabytes: ONE_PROCESSOR_MEGABYTES,
    parts: 3,
  },
  sweep: {
    every: Duration.minutes(5),
    description: "Starts operations that were recorded but never started, and compares the provider's machines with the table",
    access: { table: "write", starts: WORKFLOW_NAMES, describes: true, configuration: true, readsLogs: true },
  },
  "refresh-catalog": {
    every: Duration.minutes(10),
    description: "Updates the catalog from the providers",
    access: { table: "write", configuration: true },
  },
  "expire-backups": {
    every: Duration.hours(1),
    description: "Deletes expired backups and uploads",
    access: { table: "write", starts: ["delete-backup"], storage: "remove uploads" },
  },
  "expire-history": {
    every: Duration.hours(6),
    description:
      "Deletes old events, operations and alerts, closes alerts, says which API tokens expire soon, and checks domains of single sign-on",
    access: { table: "write" },
  },
  "run-policies": {
    every: Duration.minutes(1),
    description:
      "Starts the backups and drills that policies have due, removes backups that no rule keeps, and deploys code that was pushed",
    access: {
      table: "write",
      starts: ["create-backup", "delete-backup", "drill-backup", "check-code-instance", "deploy-instance"],
    },
  },
  dispatch: {
    every: Duration.minutes(1),
    description:
      "Records what changes have left in the outbox as deliveries to webhooks, and queues those and mails that are due",
    access: { table: "write", deliveries: "send", mails: "send", stream: true },
  },
} as const satisfies Partial<Record<ScheduleName, Timed>>;

export type TimedName = keyof typeof TIMED;

const partsOf = ({ parts = 1 }: Timed): number => parts;

/** What the keys of the outbox and of mails that are due begin with (shared/data/keys.ts). */
const OUTBOX = "OUTBOX#";
const MAILS = "MAILS_DUE";

/** The sandbox's offers never change. */
const RENTED_ONLY: TimedName = "refresh-catalog";

interface Props {
  environment: Environment;
  settings: Settings;
  functions: Functions;
  logGroup: LogGroup;
  /**
   * Whether requests cannot take all of the account's concurrent functions, so that schedules always find one. A new account
   * allows no reservation.
   */
  reserved: boolean;
  /** The dashboard's address. */
  url: string;
}

export class Schedules extends Construct {
  readonly timed: ReadonlyMap<TimedName, LambdaFunction>;
  readonly rescue: LambdaFunction;
  /** Matches every execution that dies. */
  readonly deaths: Rule;
  /** Dead executions that could not be rescued. */
  readonly unrescued: Queue;
  /** Mails that could not be sent. */
  readonly unsentMails: Queue;
  /** How many of the account's concurrent executions are reserved for schedules. */
  readonly reservedRuns: number;
  private readonly reserved: number | undefined;

  constructor(scope: Construct, id: string, { environment, settings, functions, logGroup, reserved, url }: Props) {
    super(scope, id);
    this.reserved = reserved ? RESERVED_EACH : undefined;
    const names = Object.keys(TIMED).filter(
      (name): name is TimedName => name in TIMED && (settings.rents || name !== RENTED_ONLY),
    );
    this.timed = new Map(names.map((name) => [name, this.every(name, TIMED[name], functions, logGroup)]));

    this.unrescued = new Queue(this, "unrescued", {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    Validations.of(this.unrescued).acknowledge({ id: "AwsSolutions-SQS3", reason: "This is the dead-letter queue" });
    this.rescue = this.rescuer(functions, logGroup);
    this.deaths = this.onDeath(environment);
    this.streamed(functions.table);
    this.deliverer(functions, logGroup).addEnvironment("DASHBOARD_URL", url);
    this.mailer(functions, logGroup).addEnvironment("DASHBOARD_URL", url);
    this.unsentMails = functions.mail.unsent;
    const runs = names.reduce((sum, name) => sum + partsOf(TIMED[name]), 1); // one of the rescue
    this.reservedRuns = runs * (this.reserved ?? 0);
  }

  private every(
    name: TimedName,
    { every, description, access, memoryMegabytes, parts = 1 }: Timed,
    functions: Functions,
    logGroup: LogGroup,
  ): LambdaFunction {
    const run = functions.make(this, name, {
      bundle: `schedules.${name}`,
      description,
      access,
      timeout: Duration.minutes(Math.min(LAMBDA_MINUTES_MAX, every.toMinutes())),
      memoryMegabytes,
      logGroup,
      traced: false,
      reserved: this.reserved && this.reserved * parts,
    });
    // No retry: the next run comes anyway, and an alarm fires if none succeeds.
    run.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(Math.min(60, every.toMinutes())) });
    new Rule(this, `${name} rule`, {
      description,
      schedule: Schedule.rate(every),
      targets: Array.from(
        { length: parts },
        (_, part) =>
          new Target(run, { retryAttempts: 0, ...(parts > 1 && { event: RuleTargetInput.fromObject({ part, parts }) }) }),
      ),
    });
    return run;
  }

  /** The table's stream invokes functions with new items of the outbox, too; what fails is left to the schedule. */
  private streamed({ tableStreamArn }: TableV2): void {
    if (tableStreamArn === undefined) throw new Error("The table needs a stream");
    new EventSourceMapping(this, "outbox", {
      target: this.dispatch(),
      eventSourceArn: tableStreamArn,
      startingPosition: StartingPosition.LATEST,
      batchSize: 100,
      retryAttempts: 2,
      filters: [
        FilterCriteria.filter({
          eventName: ["INSERT"],
          dynamodb: { Keys: { pk: { S: [...FilterRule.beginsWith(OUTBOX), ...FilterRule.beginsWith(MAILS)] } } },
        }),
      ],
    });
  }

  private dispatch(): LambdaFunction {
    const dispatch = this.timed.get("dispatch");
    if (dispatch === undefined) throw new Error("The schedule of the outbox is missing");
    return dispatch;
  }

  private deliverer(functions: Functions, logGroup: LogGroup): LambdaFunction {
    const deliver = functions.make(this, "deliver", {
      bundle: "schedules.deliver",
      description: "Sends deliveries to webhooks",
      access: { table: "write", keys: ["sealing"], deliveries: "work" },
      timeout: Duration.seconds(DELIVER_SECONDS),
      logGroup,
      traced: false,
    });
    for (const name of ["deliveries", "slow"] as const)
      new EventSourceMapping(this, `${name} queue`, {
        target: deliver,
        eventSourceArn: functions.queues[name].queueArn,
        batchSize: 1,
        maxConcurrency: RUNS_AT_ONCE[name],
      });
    return deliver;
  }

  private mailer(functions: Functions, logGroup: LogGroup): LambdaFunction {
    const { mail } = functions;
    const sendMail = functions.make(this, "send-mail", {
      bundle: "schedules.send-mail",
      description: "Sends mails, and notes which mailboxes bounce",
      access: { table: "write", keys: ["sealing"], mails: "work" },
      timeout: Duration.seconds(SEND_SECONDS),
      logGroup,
      traced: false,
    });
    new EventSourceMapping(this, "mail queue", {
      target: sendMail,
      eventSourceArn: mail.queue.queueArn,
      batchSize: 1,
      maxConcurrency: MAILS_AT_ONCE,
    });
    if (mail.sends)
      new Rule(this, "bounces rule", {
        description: "Notes which mailboxes bounce",
        eventPattern: mail.pattern,
        targets: [new Target(sendMail, { retryAttempts: 24, maxEventAge: Duration.hours(6), deadLetterQueue: mail.unsent })],
      });
    return sendMail;
  }

  /** Starts the second execution, which only undoes, for executions that died. */
  private rescuer(functions: Functions, logGroup: LogGroup): LambdaFunction {
    const rescue = functions.make(this, "rescue", {
      bundle: "schedules.rescue",
      description: "Starts the undo of an execution that died",
      access: { table: "write", starts: WORKFLOW_NAMES, readsLogs: true, failures: this.unrescued },
      timeout: Duration.minutes(1),
      logGroup,
      traced: false,
      reserved: this.reserved,
    });
    rescue.configureAsyncInvoke({
      retryAttempts: 2,
      maxEventAge: Duration.hours(6),
      onFailure: new SqsDestination(this.unrescued),
    });
    return rescue;
  }

  private onDeath(environment: Environment): Rule {
    // A pattern has 2,048 characters at most: no room for the name of every state machine.
    const ours = Stack.of(this).formatArn({
      service: "states",
      resource: "stateMachine",
      resourceName: stateMachineName(environment, ""),
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    return new Rule(this, "rescue rule", {
      description: "Starts the undo of an execution that died",
      eventPattern: {
        source: ["aws.states"],
        detailType: ["Step Functions Execution Status Change"],
        detail: {
          status: ["FAILED", "TIMED_OUT", "ABORTED"],
          stateMachineArn: Match.prefix(ours),
        },
      },
      targets: [new Target(this.rescue, { retryAttempts: 24, maxEventAge: Duration.hours(6), deadLetterQueue: this.unrescued })],
    });
  }
}
