// Every alarm says who is harmed, and links to what to do.
import { Duration } from "aws-cdk-lib";
import type { RestApiBase } from "aws-cdk-lib/aws-apigateway";
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  Stats,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { TableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { Rule } from "aws-cdk-lib/aws-events";
import { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { FilterPattern, type LogGroup, MetricFilter } from "aws-cdk-lib/aws-logs";
import type { Topic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";
import { alarmTopic } from "./alarm-topic.ts";
import type { Api } from "./api.ts";
import { budget } from "./budget.ts";
import { BUDGET, type Chosen } from "./deploy-settings.ts";
import { type MetricName, METRICS_NAMESPACE, RECORD_SKIPPED } from "../shared/domain/alarm-metrics.ts";
import { INDEXES } from "./table.ts";
import { type Schedules, TIMED, type TimedName } from "./schedules.ts";
import { stackName } from "./settings.ts";
import type { Environment } from "../shared/domain/environments.ts";

const PERIOD = Duration.minutes(5);

/**
 * A share of 401 that no mix of healthy clients has: one client with an expired token is less, unless there are hardly any
 * others.
 */
const REJECTED_PERCENT = 25;
/** Fewer requests in a period say nothing: one forgotten script would be most of them. */
const REQUESTS_COMPARED = 200;

/** What an alarm tells the operator: whom the problem harms, and which section of docs/operations.md says what to do. */
interface Runbook {
  impact: string;
  anchor: string;
}

interface Props {
  environment: Environment;
  api: Pick<Api, "rest" | "authorize" | "accessLog">;
  table: TableV2;
  schedules: Schedules;
  /** The logs of all functions. */
  logs: readonly LogGroup[];
  options: Pick<Chosen, "alarmEmail" | "budget">;
}

export class Alarms extends Construct {
  readonly topic: Topic;
  private readonly environment: Environment;
  private readonly action: SnsAction;

  constructor(scope: Construct, id: string, { environment, api, table, schedules, logs, options }: Props) {
    super(scope, id);
    this.environment = environment;
    this.topic = alarmTopic(this, {
      name: `Alarms of ${stackName(environment)}`,
      publishers: ["cloudwatch.amazonaws.com", "budgets.amazonaws.com"],
      email: options.alarmEmail,
    });
    const dollars = Number(options.budget ?? BUDGET);
    if (dollars > 0) budget(this, "budget", { environment, dollars, topic: this.topic });
    this.action = new SnsAction(this.topic);

    this.requests(api);
    for (const kind of ["Read", "Write"] as const)
      this.alarm(`table ${kind.toLowerCase()}s throttled`, this.throttles(table, kind), {
        atLeast: 1,
        impact: `Requests and operations are slow or get 503, because one partition of the table gets too many ${kind.toLowerCase()}s`,
        anchor: "table-throttled",
      });

    this.alarm("functions throttled", LambdaFunction.metricAllThrottles({ period: PERIOD, statistic: Stats.SUM }), {
      atLeast: 1,
      impact:
        "Customers' requests get 503 and operations wait, because the account has reached its quota of concurrent functions",
      anchor: "functions-throttled",
    });
    // The rule that starts the undo counts the deaths: one metric instead of three for each state machine.
    this.alarm("execution died", this.matches(schedules.deaths), {
      atLeast: 1,
      impact:
        "A customer's operation failed because of a bug or outage on our side; its undo has started, and the resource is locked until it is done",
      anchor: "execution-died",
    });
    this.alarm("rescue errors", schedules.rescue.metricErrors({ period: PERIOD }), {
      atLeast: 1,
      impact:
        "The undo of a dead execution has not started yet: a customer's resource stays locked, and a machine may cost money",
      anchor: "rescue-errors",
    });
    this.alarm("not rescued", schedules.unrescued.metricApproximateNumberOfMessagesVisible({ period: PERIOD }), {
      atLeast: 1,
      impact:
        "The undo of a dead execution did not start on time: a customer's resource stays locked until the sweep or an operator undoes it",
      anchor: "not-rescued",
    });
    this.alarm("mails unsent", schedules.unsentMails.metricApproximateNumberOfMessagesVisible({ period: PERIOD }), {
      atLeast: 1,
      impact:
        "A person did not get a mail, such as an invitation, a link to reset a password or an alert, or a mailbox's bounce was not noted",
      anchor: "mails-unsent",
    });
    this.counts(logs);
    for (const [name, run] of schedules.timed) this.silence(name, run);
  }

  private requests({ rest, authorize, accessLog }: Props["api"]): void {
    this.alarm("API errors", rest.metricServerError({ period: PERIOD, statistic: Stats.SUM }), {
      atLeast: 5,
      impact: "Customers' requests get 500 or 503",
      anchor: "api-errors",
    });
    this.alarm("authorizer errors", authorize.metricErrors({ period: PERIOD }), {
      atLeast: 1,
      impact: "Customers with a valid credential get 503",
      anchor: "authorizer-errors",
    });
    this.alarm("requests rejected", this.rejectedShare(rest, accessLog), {
      atLeast: REJECTED_PERCENT,
      impact: `Customers' tokens and sessions may no longer be accepted, or somebody is guessing: ${REJECTED_PERCENT} % of the requests get 401`,
      anchor: "requests-rejected",
    });
  }

  /** What the service counts itself, and should be zero. */
  private counts(logs: readonly LogGroup[]): void {
    this.alarm("record skipped", this.recordsSkipped(logs), {
      atLeast: 1,
      impact: "A customer's list lacks a record that could not be read, and schedules pass it by",
      anchor: "record-skipped",
    });
    this.alarm("internal error", this.own("InternalError"), {
      atLeast: 1,
      impact: "A customer's operation failed because of a bug or outage on our side; its changes have been undone",
      anchor: "internal-error",
    });
    this.alarm("undo failed", this.own("UndoFailed"), {
      atLeast: 1,
      impact:
        "An undo failed: a customer's resource was unlocked in a failed status, and something may be left at the provider, costing money",
      anchor: "undo-failed",
    });
    this.alarm("drill failed", this.own("DrillFailed"), {
      atLeast: 1,
      impact: "A customer's backup cannot be restored as it should: a loss of the instance now may be a loss of data",
      anchor: "drill-failed",
    });
    this.alarm("orphan machines", this.own("OrphanMachines"), {
      atLeast: 1,
      impact: "The provider has a machine of ours without a record: it costs money and serves nobody",
      anchor: "orphan-machines",
    });
    this.alarm("instances down", this.own("InstancesDown"), {
      atLeast: 1,
      impact: "A customer's ERP cannot be used: three looks in a row found that it does not respond",
      anchor: "instances-down",
    });
    this.alarm("backups overdue", this.own("BackupsOverdue"), {
      atLeast: 1,
      impact:
        "A customer's instance has had no backup for two hours after one was due: a failure now loses more data than its policy allows",
      anchor: "backups-overdue",
    });
    this.alarm("disks low", this.own("DisksLow"), {
      atLeast: 1,
      impact: "A customer's server has less than 15 % or 5 % of its disk free: backups and restores on it may fail",
      anchor: "disks-low",
    });
    this.alarm("instances paused", this.own("InstancesPaused"), {
      atLeast: 1,
      impact:
        "A customer's instance is paused, because it used more than it may of a disk that is almost full: nobody can use it",
      anchor: "instances-paused",
    });
    this.alarm("single sign-on bypassed", this.own("SsoBypassed"), {
      atLeast: 1,
      impact:
        "An owner signed in with a passkey, though their account requires single sign-on: its identity provider may be down, or somebody avoids it",
      anchor: "single-sign-on-bypassed",
    });
  }

  /** No successful run in the time of three: the function fails, or nothing calls it. */
  private silence(name: TimedName, run: LambdaFunction): void {
    const period = Duration.minutes(Math.max(5, 3 * TIMED[name].every.toMinutes()));
    const usingMetrics = { runs: run.metricInvocations({ period }), errors: run.metricErrors({ period }) };
    // Without a datapoint, CloudWatch would look back over more periods, and the alarm would be late by these.
    const expression = "FILL(runs, 0) - FILL(errors, 0)";
    this.alarm(`${name} silent`, new MathExpression({ expression, usingMetrics, period }), {
      below: 1,
      impact: SILENCE[name],
      anchor: `${name}-silent`,
    });
  }

  private alarm(
    name: string,
    metric: IMetric,
    { impact, anchor, ...limit }: Runbook & ({ atLeast: number } | { below: number }),
  ): void {
    const missing = "below" in limit;
    const alarm = new Alarm(this, name, {
      alarmName: `${stackName(this.environment)}: ${name}`,
      alarmDescription: `${impact}. What to do: docs/operations.md#${anchor}`,
      metric,
      threshold: missing ? limit.below : limit.atLeast,
      comparisonOperator: missing
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: missing ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(this.action);
    alarm.addOkAction(this.action);
  }

  /** How often an event matched a rule. */
  private matches({ ruleName }: Rule): Metric {
    const dimensionsMap = { RuleName: ruleName };
    return new Metric({
      namespace: "AWS/Events",
      metricName: "TriggeredRules",
      dimensionsMap,
      statistic: Stats.SUM,
      period: PERIOD,
    });
  }

  private own(metricName: MetricName): Metric {
    const dimensionsMap = { environment: this.environment };
    return new Metric({ namespace: METRICS_NAMESPACE, metricName, dimensionsMap, statistic: Stats.MAXIMUM, period: PERIOD });
  }

  /** Counted in the logs: any function may read a list, and few have the library for metrics. */
  private recordsSkipped(logs: readonly LogGroup[]): Metric {
    const metricName = `RecordsSkipped-${this.environment}`; // a count from a log has no dimension for the environment
    for (const [name, logGroup] of logs.entries())
      new MetricFilter(this, `skipped-${name}`, {
        logGroup,
        filterPattern: FilterPattern.stringValue("$.message.message", "=", RECORD_SKIPPED),
        metricNamespace: METRICS_NAMESPACE,
        metricName,
      });
    return new Metric({ namespace: METRICS_NAMESPACE, metricName, statistic: Stats.SUM, period: PERIOD });
  }

  /** The share of rejected requests in percent; 0 if there are few. The gateway's own metric counts all 4xx as one. */
  private rejectedShare(rest: RestApiBase, logGroup: LogGroup): MathExpression {
    const metricName = `Unauthorized-${this.environment}`; // a count from a log has no dimension for the environment
    new MetricFilter(this, "unauthorized", {
      logGroup,
      filterPattern: FilterPattern.stringValue("$.status", "=", "401"),
      metricNamespace: METRICS_NAMESPACE,
      metricName,
    });
    const rejected = new Metric({ namespace: METRICS_NAMESPACE, metricName, statistic: Stats.SUM, period: PERIOD });
    const requests = rest.metricCount({ statistic: Stats.SUM, period: PERIOD });
    return new MathExpression({
      expression: `IF(FILL(requests, 0) >= ${REQUESTS_COMPARED}, 100 * FILL(rejected, 0) / FILL(requests, 1), 0)`,
      usingMetrics: { requests, rejected },
      period: PERIOD,
    });
  }

  /**
   * An index's throttles do not count for its table. An alarm of reads and writes together would have no room for a fifth index.
   */
  private throttles(table: TableV2, kind: "Read" | "Write"): MathExpression {
    const of = (index?: string): Metric =>
      new Metric({
        namespace: "AWS/DynamoDB",
        metricName: `${kind}ThrottleEvents`,
        dimensionsMap: { TableName: table.tableName, ...(index === undefined ? {} : { GlobalSecondaryIndexName: index }) },
        statistic: Stats.SUM,
        period: PERIOD,
      });
    const metrics = [of(), ...Object.keys(INDEXES).map((index) => of(index))];
    const usingMetrics = Object.fromEntries(metrics.map((metric, position) => [`m${position}`, metric]));
    const expression = Object.keys(usingMetrics)
      .map((name) => `FILL(${name}, 0)`)
      .join(" + ");
    return new MathExpression({ expression, usingMetrics, period: PERIOD });
  }
}

const SILENCE: Readonly<Record<TimedName, string>> = {
  "check-servers": "Servers that fail are still shown as active, and servers that came back are still shown as offline",
  sweep: "Operations that were recorded but never started stay pending, and machines without a record go unnoticed",
  "refresh-catalog":
    "Customers see machines that are not available, or do not see those that are; or a provider's credentials are no longer valid",
  "expire-backups": "Expired backups and uploads are kept",
  "expire-history":
    "Events and operations are kept longer than documented, and domains that have lost their TXT record stay verified",
  dispatch: "Webhooks are not sent what happens, or not again what failed; mails are late or not sent",
  "run-policies": "Scheduled backups do not start, and instances without a recent backup are not shown as overdue",
};
