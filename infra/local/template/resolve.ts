// What a CloudFormation template's references mean on this machine: names and ARNs that stay the same between starts, conditions, functions.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { LocalError } from "../errors.ts";

export const ACCOUNT = "000000000000";
export const REGION = "us-east-1";

export type Json = z.infer<ReturnType<typeof z.json>>;

const RawResource = z.object({
  Type: z.string(),
  Condition: z.string().optional(),
  Properties: z.record(z.string(), z.json()).default({}),
  Metadata: z.record(z.string(), z.json()).default({}),
});
const RawTemplate = z.object({
  Parameters: z.record(z.string(), z.object({ Type: z.string(), Default: z.json().optional() })).default({}),
  Mappings: z.record(z.string(), z.record(z.string(), z.record(z.string(), z.json()))).default({}),
  Conditions: z.record(z.string(), z.json()).default({}),
  Resources: z.record(z.string(), RawResource),
  Outputs: z.record(z.string(), z.object({ Value: z.json(), Condition: z.string().optional() })).default({}),
});
type RawResource = z.infer<typeof RawResource>;

/** One template with what its references mean: the stack, or a stack nested in it. */
export interface Scope {
  name: string;
  raw: z.infer<typeof RawTemplate>;
  parameter: (name: string) => Json | undefined;
  nested: (logicalId: string) => Scope | undefined;
}

export interface Resource {
  logicalId: string;
  type: string;
  name: string;
  arn: string;
  properties: Record<string, Json>;
}

const arnOf = (service: string, rest: string): string => `arn:aws:${service}:${REGION}:${ACCOUNT}:${rest}`;

/** How CloudFormation names a type: the property that may set the name, the ARN made of it, and what `Ref` gives (the name unless said). */
interface Kind {
  named: string;
  arn: (name: string) => string;
  ref?: (name: string) => string;
}
const table: Kind = { named: "TableName", arn: (name) => arnOf("dynamodb", `table/${name}`) };
const machineArn = (name: string): string => arnOf("states", `stateMachine:${name}`);
const policyArn = (name: string): string => `arn:aws:iam::${ACCOUNT}:policy/${name}`;
// AWS ends a secret's ARN in six random characters; these six never change, so that the ARN does not either.
const secretArn = (name: string): string => arnOf("secretsmanager", `secret:${name}-local0`);
const topicArn = (name: string): string => arnOf("sns", name);
const KINDS: Record<string, Kind> = {
  "AWS::Lambda::Function": { named: "FunctionName", arn: (name) => arnOf("lambda", `function:${name}`) },
  "AWS::DynamoDB::Table": table,
  "AWS::DynamoDB::GlobalTable": table,
  "AWS::S3::Bucket": { named: "BucketName", arn: (name) => `arn:aws:s3:::${name}` },
  "AWS::SecretsManager::Secret": { named: "Name", arn: secretArn, ref: secretArn },
  "AWS::StepFunctions::StateMachine": { named: "StateMachineName", arn: machineArn, ref: machineArn },
  "AWS::IAM::Role": { named: "RoleName", arn: (name) => `arn:aws:iam::${ACCOUNT}:role/${name}` },
  "AWS::IAM::ManagedPolicy": { named: "ManagedPolicyName", arn: policyArn, ref: policyArn },
  "AWS::Events::Rule": { named: "Name", arn: (name) => arnOf("events", `rule/${name}`) },
  "AWS::SQS::Queue": {
    named: "QueueName",
    arn: (name) => arnOf("sqs", name),
    ref: (name) => `https://sqs.${REGION}.amazonaws.com/${ACCOUNT}/${name}`,
  },
  "AWS::SNS::Topic": { named: "TopicName", arn: topicArn, ref: topicArn },
  "AWS::Logs::LogGroup": { named: "LogGroupName", arn: (name) => arnOf("logs", `log-group:${name}:*`) },
  "AWS::KMS::Key": { named: "-", arn: (name) => arnOf("kms", `key/${name}`) },
  "AWS::ApiGateway::Stage": { named: "StageName", arn: (name) => arnOf("apigateway", `/stages/${name}`) },
};

function kindOf(type: string): Kind {
  const service = type.split("::")[1]?.toLowerCase() ?? "local";
  return KINDS[type] ?? { named: "-", arn: (name) => arnOf(service, name) };
}

export const text = (value: Json | undefined): string => (typeof value === "string" ? value : JSON.stringify(value ?? ""));

function resourceOf(scope: Scope, logicalId: string): RawResource {
  const resource = scope.raw.Resources[logicalId];
  if (!resource) throw new LocalError(`${scope.name} refers to ${logicalId}, which it does not have: synthesize it again`);
  return resource;
}

function nameOf(scope: Scope, logicalId: string): string {
  const { Type, Properties } = resourceOf(scope, logicalId);
  const own = Properties[kindOf(Type).named];
  if (own !== undefined) return text(resolve(own, scope));
  const name = `${scope.name}-${logicalId}`;
  return Type === "AWS::S3::Bucket" ? name.toLowerCase().slice(0, 63) : name;
}

function reference(scope: Scope, logicalId: string): Json {
  const parameter = scope.parameter(logicalId);
  if (parameter !== undefined) return parameter;
  const { Type, Properties } = resourceOf(scope, logicalId);
  if (Type === "AWS::Lambda::Version" || Type === "AWS::Lambda::Alias") {
    const target =
      text(resolve(Properties["FunctionName"] ?? "", scope))
        .split(":")
        .at(-1) ?? "";
    return arnOf("lambda", `function:${target}:${Type === "AWS::Lambda::Alias" ? text(Properties["Name"]) : "1"}`);
  }
  const name = nameOf(scope, logicalId);
  return kindOf(Type).ref?.(name) ?? name;
}

function attribute(scope: Scope, logicalId: string, key: string): Json {
  const name = nameOf(scope, logicalId);
  const nested = scope.nested(logicalId);
  if (nested && key.startsWith("Outputs.")) {
    const output = nested.raw.Outputs[key.slice("Outputs.".length)];
    if (output) return resolve(output.Value, nested) ?? "";
  }
  const { Type } = resourceOf(scope, logicalId);
  if (key === "Arn") return kindOf(Type).arn(name);
  if (key === "StreamArn") return `${kindOf(Type).arn(name)}/stream/local`;
  if (key === "Name" || key.endsWith("Name")) return name.concat(Type === "AWS::S3::Bucket" ? ".s3.amazonaws.com" : "");
  return `${name}.${key}`;
}

const PSEUDO: Record<string, Json> = {
  "AWS::AccountId": ACCOUNT,
  "AWS::Region": REGION,
  "AWS::Partition": "aws",
  "AWS::URLSuffix": "amazonaws.com",
  "AWS::NotificationARNs": [],
};

function ref(name: string, scope: Scope): Json | undefined {
  if (name === "AWS::NoValue") return undefined;
  if (name === "AWS::StackName") return scope.name;
  if (name === "AWS::StackId") return arnOf("cloudformation", `stack/${scope.name}/local`);
  return PSEUDO[name] ?? reference(scope, name);
}

export function holds(condition: Json | undefined, scope: Scope): boolean {
  if (typeof condition === "string") return holds(scope.raw.Conditions[condition], scope);
  if (typeof condition !== "object" || condition === null || Array.isArray(condition)) return false;
  const [[operator, argument] = ["nothing", null]] = Object.entries(condition);
  const list = Array.isArray(argument) ? argument : [argument];
  switch (operator) {
    case "Condition":
      return holds(argument, scope);
    case "Fn::Equals":
      return text(resolve(list[0] ?? "", scope)) === text(resolve(list[1] ?? "", scope));
    case "Fn::And":
      return list.every((each) => holds(each, scope));
    case "Fn::Or":
      return list.some((each) => holds(each, scope));
    case "Fn::Not":
      return !holds(list[0], scope);
    default:
      throw new LocalError(`${scope.name} has a condition with ${operator}, which the local runner does not know`);
  }
}

function substitute(template: string, own: Record<string, Json>, scope: Scope): string {
  return template.replaceAll(/\$\{([^}]+)\}/g, (_, name: string) => {
    if (name.startsWith("!")) return `\${${name.slice(1)}}`;
    const value = own[name];
    if (value !== undefined) return text(resolve(value, scope));
    const dot = name.indexOf(".");
    return text(dot < 0 ? ref(name, scope) : attribute(scope, name.slice(0, dot), name.slice(dot + 1)));
  });
}

const isList = (value: Json | undefined): value is Json[] => Array.isArray(value);
const isRecord = (value: Json | undefined): value is Record<string, Json> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function intrinsic(name: string, argument: Json, scope: Scope): Json | undefined {
  if (name === "Ref") return ref(text(argument), scope);
  if (name === "Fn::If" && isList(argument)) return resolve(argument[holds(argument[0], scope) ? 1 : 2] ?? null, scope);
  if (name === "Fn::Sub") {
    const [template, own] = isList(argument) ? argument : [argument];
    return substitute(text(template), isRecord(own) ? own : {}, scope);
  }
  const value = resolve(argument, scope);
  const [first, second, third] = isList(value) ? value : text(value).split(/\.(.*)/s);
  switch (name) {
    case "Fn::GetAtt":
      return attribute(scope, text(first), text(second));
    case "Fn::Join":
      return isList(second) ? second.map(text).join(text(first)) : text(second);
    case "Fn::Select":
      return isList(second) ? second[Number(first)] : undefined;
    case "Fn::Split":
      return text(second).split(text(first));
    case "Fn::FindInMap":
      return scope.raw.Mappings[text(first)]?.[text(second)]?.[text(third)];
    case "Fn::Base64":
      return Buffer.from(text(value)).toString("base64");
    case "Fn::GetAZs":
      return ["a", "b", "c"].map((zone) => REGION + zone);
    default:
      throw new LocalError(`${scope.name} uses ${name}, which the local runner does not know: teach infra/local/template.ts`);
  }
}

/** The value with every reference resolved; undefined is CloudFormation's AWS::NoValue, and leaves out what it stands for. */
export function resolve(value: Json, scope: Scope): Json | undefined {
  if (isList(value)) return value.map((each) => resolve(each, scope)).filter((each) => each !== undefined);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value);
  const [only] = entries;
  if (only && entries.length === 1 && (only[0] === "Ref" || only[0].startsWith("Fn::"))) return intrinsic(...only, scope);
  return Object.fromEntries(
    entries.flatMap(([key, each]) => {
      const resolved = resolve(each, scope);
      return resolved === undefined ? [] : [[key, resolved]];
    }),
  );
}

/** Reads a template and those nested in it. */
export function open(outDir: string, file: string, name: string, given: (parameter: string) => Json | undefined): Scope {
  const path = join(outDir, file);
  if (!existsSync(path)) throw new LocalError(`${path} is missing: synthesize the app first`);
  const raw = RawTemplate.parse(JSON.parse(readFileSync(path, "utf8")));
  const nested = new Map<string, Scope>();
  const scope: Scope = {
    name,
    raw,
    parameter: (parameter) => {
      const declared = raw.Parameters[parameter];
      if (!declared) return undefined;
      const value = given(parameter) ?? declared.Default;
      if (value === undefined) throw new LocalError(`${name} needs a value for its parameter ${parameter}: give it a default`);
      return declared.Type.includes("List") && typeof value === "string" ? value.split(",") : value;
    },
    nested: (logicalId) => nested.get(logicalId),
  };
  for (const [logicalId, { Type, Properties, Metadata }] of Object.entries(raw.Resources)) {
    if (Type !== "AWS::CloudFormation::Stack") continue;
    const parameters = isRecord(Properties["Parameters"]) ? Properties["Parameters"] : {};
    nested.set(
      logicalId,
      open(outDir, text(Metadata["aws:asset:path"]), `${name}-${logicalId}`, (parameter) => {
        const value = parameters[parameter];
        return value === undefined ? undefined : resolve(value, scope);
      }),
    );
  }
  return scope;
}

/** The resources whose conditions hold, those of nested stacks among them, resolved. */
export function resourcesOf(scope: Scope): Resource[] {
  return Object.entries(scope.raw.Resources).flatMap(([logicalId, { Type, Condition, Properties }]): Resource[] => {
    if (Condition !== undefined && !holds(Condition, scope)) return [];
    const nested = scope.nested(logicalId);
    if (nested) return resourcesOf(nested);
    const name = nameOf(scope, logicalId);
    const properties = resolve(Properties, scope);
    return [{ logicalId, type: Type, name, arn: kindOf(Type).arn(name), properties: isRecord(properties) ? properties : {} }];
  });
}
