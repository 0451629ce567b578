// The lengths and numbers of a stack that AWS limits and that grow with the product, and what is left of each: `npm run limits`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { ROOT } from "../../infra/built.ts";
import { open, REGION, listResources } from "../../infra/local/template/resolve.ts";
import { readRoles } from "../../infra/local/template/roles.ts";

/** The longest name of a region: ARNs contain it. */
const LONGEST_REGION = "ap-southeast-1";
/** Beyond this share of a limit, the next features need another solution. */
const NEAR = 0.8;

const Fields = z.record(z.string(), z.json()).default({});
const List = z.array(z.json()).default([]);
const Resource = z.object({ logicalId: z.string(), type: z.string(), name: z.string(), arn: z.string(), properties: Fields });
type Resource = z.infer<typeof Resource>;

/** A stack as it is measured. */
export interface Measured {
  /** The template, as it is uploaded. */
  text: string;
  /** Its resources, with all references resolved. */
  resources: readonly Resource[];
}

/** A thing with a limit, and how much of the limit it has used. */
type Use = readonly [what: string, used: number];

export interface Limit {
  name: string;
  max: number;
  unit: string;
  /** The number from which the limit is near, if that is not 80 % of the maximum. */
  near?: number;
  /** What to do when it is near. */
  remedy: string;
  measure: (stack: Measured) => Use[];
}

export function measured(outdir: string, stack: string): Measured {
  const resources = listResources(open(outdir, stack));
  return {
    text: readFileSync(join(outdir, `${stack}.template.json`), "utf8"),
    resources: z.array(Resource).parse(JSON.parse(JSON.stringify(resources).replaceAll(REGION, LONGEST_REGION))),
  };
}

/** What uses the most of a limit; undefined if the stack has no such thing. */
export const largest = ({ measure }: Limit, stack: Measured): Use | undefined =>
  measure(stack).toSorted(([, a], [, b]) => b - a)[0];

/** A sentence for everything that is near a limit or over it. */
export const exceeded = (limits: readonly Limit[], stack: Measured): string[] =>
  limits.flatMap(({ name, max, unit, near = max * NEAR, remedy, measure }) =>
    measure(stack)
      .filter(([, used]) => used > near)
      .map(([subject, used]) => `${name}: ${subject} has ${used} of ${max} ${unit}. ${remedy}`),
  );

const bytes = (value: unknown): number => Buffer.byteLength(typeof value === "string" ? value : JSON.stringify(value));

/** A number for each resource of a type; undefined: it does not have what is limited. */
const each =
  (type: string, measure: (properties: Resource["properties"], resource: Resource) => number | undefined) =>
  ({ resources }: Measured): Use[] =>
    resources
      .filter((resource) => resource.type === type)
      .flatMap((resource): Use[] => {
        const used = measure(resource.properties, resource);
        return used === undefined ? [] : [[resource.logicalId, used]];
      });

/** The length of a text property; undefined if it is not set. */
const lengthOf =
  (property: string) =>
  ({ [property]: value }: Resource["properties"]): number | undefined =>
    value === undefined ? undefined : bytes(value);

const Alarm = z.looseObject({ Metrics: z.array(z.looseObject({ MetricStat: z.json().optional() })).optional() });
const Distribution = z.looseObject({ DistributionConfig: z.looseObject({ CacheBehaviors: List }) });
const Headers = z.looseObject({
  ResponseHeadersPolicyConfig: z.looseObject({
    Name: z.string(),
    CustomHeadersConfig: z.looseObject({ Items: List }),
    SecurityHeadersConfig: z.looseObject({ ContentSecurityPolicy: z.looseObject({ ContentSecurityPolicy: z.string() }) }),
  }),
});
const headersOf = (properties: Resource["properties"]) => Headers.parse(properties).ResponseHeadersPolicyConfig;
const Api = z.looseObject({ Body: z.looseObject({ paths: Fields }) });
const Stage = z.looseObject({ AccessLogSetting: z.looseObject({ Format: z.string() }) });
const Sampling = z.looseObject({ SamplingRule: z.looseObject({ RuleName: z.string(), ServiceName: z.string() }) });
const Template = z.looseObject({ Description: z.string(), Outputs: Fields, Parameters: Fields, Mappings: Fields });

const template =
  (measure: (parsed: z.infer<typeof Template>) => number) =>
  ({ text }: Measured): Use[] => [["the template", measure(Template.parse(JSON.parse(text)))]];

export const LIMITS: readonly Limit[] = [
  {
    name: "Resources of a stack",
    max: 500,
    unit: "resources",
    // A split of a deployed stack moves what holds data, so a quarter stays free for what nobody has planned yet. An endpoint is
    // one; webhooks were 11, and 14 for their queues and the functions behind them; mail is 9, and 4 more with a sender.
    near: 375,
    remedy: "Share roles, or put what belongs together into one resource, before you raise this number",
    measure: ({ resources }) => [["the template", resources.length]],
  },
  {
    name: "Template",
    max: 1_048_576,
    unit: "bytes",
    remedy: "Roles and state machines are the most of it: look for what they repeat",
    measure: ({ text }) => [["the template", bytes(text)]],
  },
  {
    name: "Outputs of a stack",
    max: 200,
    unit: "outputs",
    remedy: "Put several values into one",
    measure: template(({ Outputs }) => Object.keys(Outputs).length),
  },
  {
    name: "Description of a stack",
    max: 1024,
    unit: "bytes",
    remedy: "Shorten it in infra/service.ts",
    measure: template(({ Description }) => bytes(Description)),
  },
  {
    name: "References to Secrets Manager in a template",
    max: 60,
    unit: "references",
    remedy: "Let the function read the secret itself, as with the service's keys",
    measure: ({ text }) => [["the template", text.split("{{resolve:").length - 1]],
  },
  {
    name: "Environment of a function",
    max: 4096,
    unit: "bytes",
    remedy: "Derive the ARNs of state machines from one variable",
    measure: each("AWS::Lambda::Function", ({ Environment }) =>
      Environment === undefined ? undefined : bytes(z.object({ Variables: Fields }).parse(Environment).Variables),
    ),
  },
  {
    name: "Description of a function",
    max: 256,
    unit: "bytes",
    remedy: "Shorten the summary of its endpoint",
    measure: each("AWS::Lambda::Function", lengthOf("Description")),
  },
  {
    name: "Inline policies of a role",
    max: 10_240,
    unit: "bytes",
    remedy: "Name resources by a prefix",
    measure: ({ resources }) =>
      readRoles(resources).map(({ logicalId, policies }): Use => [
        logicalId,
        policies.reduce((sum, policy) => sum + bytes(policy), 0),
      ]),
  },
  {
    name: "Description of a role",
    max: 1000,
    unit: "characters",
    remedy: "Shorten what `shapeOf` in infra/function.ts says",
    measure: each("AWS::IAM::Role", lengthOf("Description")),
  },
  {
    name: "Managed policy",
    max: 6144,
    unit: "bytes",
    remedy: "Combine actions of a service in infra/deployment-policy.json",
    measure: () => {
      const policy: unknown = JSON.parse(readFileSync(join(ROOT, "infra", "deployment-policy.json"), "utf8"));
      return [["infra/deployment-policy.json", bytes(policy)]];
    },
  },
  {
    name: "Event pattern",
    max: 2048,
    unit: "bytes",
    remedy: "Match names by a prefix",
    measure: each("AWS::Events::Rule", lengthOf("EventPattern")),
  },
  {
    name: "Description of a rule",
    max: 512,
    unit: "bytes",
    remedy: "Shorten it in infra/schedules.ts",
    measure: each("AWS::Events::Rule", lengthOf("Description")),
  },
  {
    name: "Targets of a rule",
    max: 5,
    unit: "targets",
    remedy: "Let one function call the others",
    measure: each("AWS::Events::Rule", ({ Targets }) => List.parse(Targets).length),
  },
  {
    name: "Definition of a state machine",
    max: 1_048_576,
    unit: "bytes",
    remedy: "Divide its workflow",
    measure: each("AWS::StepFunctions::StateMachine", lengthOf("DefinitionString")),
  },
  {
    name: "Name of a state machine",
    max: 80,
    unit: "characters",
    remedy: "Shorten the name of its workflow",
    measure: each("AWS::StepFunctions::StateMachine", lengthOf("StateMachineName")),
  },
  {
    name: "Metrics of an alarm",
    max: 10,
    unit: "metrics",
    remedy: "Divide the alarm",
    measure: each(
      "AWS::CloudWatch::Alarm",
      (properties) => Alarm.parse(properties).Metrics?.filter(({ MetricStat }) => MetricStat !== undefined).length ?? 1,
    ),
  },
  {
    name: "Description of an alarm",
    max: 1024,
    unit: "bytes",
    remedy: "Shorten its impact in infra/alarms.ts",
    measure: each("AWS::CloudWatch::Alarm", lengthOf("AlarmDescription")),
  },
  {
    name: "Paths of an API",
    max: 300,
    unit: "paths",
    remedy: "Ask AWS for a higher quota, for every account that deploys",
    measure: each("AWS::ApiGateway::RestApi", (properties) => Object.keys(Api.parse(properties).Body.paths).length),
  },
  {
    name: "Body of an API",
    max: 6_291_456,
    unit: "bytes",
    remedy: "Shorten what infra/api-body.ts repeats",
    measure: each("AWS::ApiGateway::RestApi", (properties) => bytes(Api.parse(properties).Body)),
  },
  {
    name: "Format of an access log",
    max: 3072,
    unit: "bytes",
    remedy: "Shorten the names of its fields in infra/api.ts",
    measure: each("AWS::ApiGateway::Stage", (properties) => bytes(Stage.parse(properties).AccessLogSetting.Format)),
  },
  {
    name: "Behaviors of a distribution",
    max: 25,
    unit: "behaviors",
    remedy: "Combine paths",
    measure: each(
      "AWS::CloudFront::Distribution",
      (properties) => Distribution.parse(properties).DistributionConfig.CacheBehaviors.length,
    ),
  },
  {
    name: "Code of a CloudFront function",
    max: 10_240,
    unit: "bytes",
    remedy: "Shorten it in infra/dashboard.ts",
    measure: each("AWS::CloudFront::Function", lengthOf("FunctionCode")),
  },
  {
    name: "Custom headers of a response",
    max: 10,
    unit: "headers",
    remedy: "Set them in the API's functions",
    measure: each(
      "AWS::CloudFront::ResponseHeadersPolicy",
      (properties) => headersOf(properties).CustomHeadersConfig.Items.length,
    ),
  },
  {
    name: "Content security policy",
    max: 1783,
    unit: "bytes",
    remedy: "Name fewer hosts in infra/dashboard-headers.ts",
    measure: each("AWS::CloudFront::ResponseHeadersPolicy", (properties) =>
      bytes(headersOf(properties).SecurityHeadersConfig.ContentSecurityPolicy.ContentSecurityPolicy),
    ),
  },
  {
    name: "Indexes of a table",
    max: 20,
    unit: "indexes",
    remedy: "Let several kinds of records share an index",
    measure: each("AWS::DynamoDB::GlobalTable", ({ GlobalSecondaryIndexes }) => List.parse(GlobalSecondaryIndexes).length),
  },
  {
    name: "Policy of a bucket",
    max: 20_480,
    unit: "bytes",
    remedy: "Combine its statements",
    measure: each("AWS::S3::BucketPolicy", lengthOf("PolicyDocument")),
  },
  {
    name: "Name of a bucket",
    max: 63,
    unit: "characters",
    near: 63,
    remedy: "Shorten the name of the stack",
    measure: each("AWS::S3::Bucket", ({ BucketName }) => (BucketName === undefined ? undefined : bytes(BucketName))),
  },
  {
    name: "Name of a sampling rule",
    max: 32,
    unit: "characters",
    remedy: "Shorten the name of the stack",
    measure: each("AWS::XRay::SamplingRule", (properties) => bytes(Sampling.parse(properties).SamplingRule.RuleName)),
  },
  {
    name: "Service of a sampling rule",
    max: 64,
    unit: "characters",
    remedy: "Shorten the name of the stack",
    measure: each("AWS::XRay::SamplingRule", (properties) => bytes(Sampling.parse(properties).SamplingRule.ServiceName)),
  },
];
