// What AWS has in us-east-1 only, as a stack of its own: a firewall for CloudFront, and a health check with its alarm. Each is
// optional.
import { CfnOutput, Duration, Stack } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, Metric, Stats, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { CfnHealthCheck } from "aws-cdk-lib/aws-route53";
import { CfnWebACL } from "aws-cdk-lib/aws-wafv2";
import type { Construct } from "constructs";
import { BASE_PATH } from "../shared/api/base-path.ts";
import { ERRORS } from "../shared/api/errors.ts";
import { alarmTopic } from "./alarm-topic.ts";
import { EDGE_REGION, edgeStackName, stackName } from "./settings.ts";
import type { Environment } from "../shared/domain/environments.ts";

interface Props {
  environment: Environment;
  /** The host to check; undefined: there is no health check. */
  checked: string | undefined;
  /** Requests to the API that an address may send in five minutes; undefined: there is no firewall. */
  requestsPerAddress: number | undefined;
  alarmEmail: string | undefined;
}

export class Edge extends Stack {
  constructor(scope: Construct, { environment, checked, requestsPerAddress, alarmEmail }: Props) {
    super(scope, edgeStackName(environment), {
      description: `ERP control plane, ${environment}: what AWS has in ${EDGE_REGION} only`,
      env: { region: EDGE_REGION },
      tags: { service: "erp-control-plane", environment },
    });
    if (checked !== undefined) this.healthCheck(environment, checked, alarmEmail);
    if (requestsPerAddress !== undefined) new CfnOutput(this, "WebAcl", { value: this.firewall(requestsPerAddress).attrArn });
  }

  /** Notices what no alarm inside can: that the name, its certificate, CloudFront or the whole region does not respond. */
  private healthCheck(environment: Environment, host: string, email: string | undefined): void {
    const check = new CfnHealthCheck(this, "check", {
      healthCheckConfig: {
        type: "HTTPS",
        fullyQualifiedDomainName: host,
        port: 443,
        resourcePath: `${BASE_PATH}/health`,
        enableSni: true,
        requestInterval: 30,
        failureThreshold: 3,
        // AWS takes no fewer regions than these, and each sends several requests a minute.
        regions: [EDGE_REGION, "eu-west-1", "ap-southeast-1"],
      },
      healthCheckTags: [{ key: "Name", value: stackName(environment) }],
    });
    // An alarm's topic is in the alarm's region.
    const topic = alarmTopic(this, {
      name: `Alarms of ${this.stackName}`,
      publishers: ["cloudwatch.amazonaws.com"],
      email,
    });
    const alarm = new Alarm(this, "not reachable", {
      alarmName: `${stackName(environment)}: not reachable`,
      alarmDescription:
        "Customers reach neither the API nor the dashboard, as seen from three regions of AWS. What to do: docs/operations.md#not-reachable",
      metric: new Metric({
        namespace: "AWS/Route53",
        metricName: "HealthCheckStatus",
        dimensionsMap: { HealthCheckId: check.attrHealthCheckId },
        statistic: Stats.MINIMUM,
        period: Duration.minutes(1),
      }),
      threshold: 1,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      evaluationPeriods: 2,
      treatMissingData: TreatMissingData.BREACHING,
    });
    alarm.addAlarmAction(new SnsAction(topic));
    alarm.addOkAction(new SnsAction(topic));
    new CfnOutput(this, "AlarmTopic", { value: topic.topicArn, description: "Subscribe here to receive the alarm" });
  }

  /**
   * The firewall is in front of everything, so what it stops costs no function. It counts all requests of an address: it cannot
   * know which credentials are valid.
   */
  private firewall(limit: number): CfnWebACL {
    const visibilityConfig = (metricName: string) => ({
      cloudWatchMetricsEnabled: true,
      sampledRequestsEnabled: false, // they would show tokens
      metricName,
    });
    return new CfnWebACL(this, "firewall", {
      name: this.stackName,
      scope: "CLOUDFRONT",
      defaultAction: { allow: {} },
      visibilityConfig: visibilityConfig(this.stackName),
      customResponseBodies: { limited: { contentType: "APPLICATION_JSON", content: tooMany(limit) } },
      rules: [
        {
          name: "requests-per-address",
          priority: 0,
          action: {
            block: {
              customResponse: {
                responseCode: ERRORS.RATE_LIMIT_EXCEEDED.status,
                customResponseBodyKey: "limited",
                responseHeaders: [
                  { name: "Retry-After", value: String(WINDOW_SECONDS) },
                  { name: "Cache-Control", value: "no-store" },
                ],
              },
            },
          },
          statement: {
            rateBasedStatement: {
              aggregateKeyType: "IP",
              limit,
              evaluationWindowSec: WINDOW_SECONDS,
              // The dashboard's files are cached, and cost next to nothing.
              scopeDownStatement: {
                byteMatchStatement: {
                  fieldToMatch: { uriPath: {} },
                  positionalConstraint: "STARTS_WITH",
                  searchString: "/api",
                  textTransformations: [{ priority: 0, type: "LOWERCASE" }],
                },
              },
            },
          },
          visibilityConfig: visibilityConfig("requests-per-address"),
        },
      ],
    });
  }
}

const WINDOW_SECONDS = 300;

/** Returns the same error as the local service (infra/local/gateway/unauthenticated-limit.ts). */
function tooMany(limit: number): string {
  const code = "RATE_LIMIT_EXCEEDED";
  const error = { code, message: ERRORS[code].message, details: { limit, window_seconds: WINDOW_SECONDS, scope: "address" } };
  return JSON.stringify({ success: false, error });
}
