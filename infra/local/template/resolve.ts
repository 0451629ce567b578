// The values of a CloudFormation template's references on this machine: names and ARNs that stay the same between starts.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { LocalError } from "../errors.ts";

export const ACCOUNT = "000000000000";
export const REGION = "us-east-1";

export type Json = z.infer<ReturnType<typeof z.json>>;

const RawResource = z.object({
  Type: z.string(),
  // A deployment has every resource of its template.
  Condition: z.undefined().optional(),
  Properties: z.record(z.string(), z.json()).default({}),
});
const RawTemplate = z.object({
  Resources: z.record(z.string(), RawResource),
});
type RawResource = z.infer<typeof RawResource>;

/** A template with the name of its stack. */
interface Scope {
  name: string;
  raw: z.infer<typeof RawTemplate>;
}

export interface Resource {
  logicalId: string;
  type: string;
  name: string;
  arn: string;
  properties: Record<string, Json>;
}

const buildArn = (service: string, resource: string): string => `arn:aws:${service}:${REGION}:${ACCOUNT}:${resource}`;

/**
 * How CloudFormation names a type: the property that may set the name, the ARN built from it, and the value of `Ref` (by default
 * the name).
 */
interface Kind {
  nameProperty: string;
  arn: (name: string) => string;
  ref?: (name: string) => string;
}
const machineArn = (name: string): string => buildArn("states", `stateMachine:${name}`);
// AWS ends a secret's ARN in six random characters; here they never change, so the ARN does not either.
const secretArn = (name: string): string => buildArn("secretsmanager", `secret:${name}-local0`);
const topicArn = (name: string): string => buildArn("sns", name);
const KINDS: Record<string, Kind> = {
  "AWS::Lambda::Function": { nameProperty: "FunctionName", arn: (name) => buildArn("lambda", `function:${name}`) },
  "AWS::DynamoDB::GlobalTable": { nameProperty: "TableName", arn: (name) => buildArn("dynamodb", `table/${name}`) },
  "AWS::S3::Bucket": { nameProperty: "BucketName", arn: (name) => `arn:aws:s3:::${name}` },
  "AWS::SecretsManager::Secret": { nameProperty: "Name", arn: secretArn, ref: secretArn },
  "AWS::StepFunctions::StateMachine": { nameProperty: "StateMachineName", arn: machineArn, ref: machineArn },
  "AWS::IAM::Role": { nameProperty: "RoleName", arn: (name) => `arn:aws:iam::${ACCOUNT}:role/${name}` },
  "AWS::Events::Rule": { nameProperty: "Name", arn: (name) => buildArn("events", `rule/${name}`) },
  "AWS::SQS::Queue": {
    nameProperty: "QueueName",
    arn: (name) => buildArn("sqs", name),
    ref: (name) => `https://sqs.${REGION}.amazonaws.com/${ACCOUNT}/${name}`,
  },
  "AWS::SNS::Topic": { nameProperty: "TopicName", arn: topicArn, ref: topicArn },
  "AWS::Logs::LogGroup": { nameProperty: "LogGroupName", arn: (name) => buildArn("logs", `log-group:${name}:*`) },
  "AWS::KMS::Key": { nameProperty: "-", arn: (name) => buildArn("kms", `key/${name}`) },
  "AWS::ApiGateway::Stage": { nameProperty: "StageName", arn: (name) => buildArn("apigateway", `/stages/${name}`) },
};

function findKind(type: string): Kind {
  const service = type.split("::")[1]?.toLowerCase() ?? "local";
  return KINDS[type] ?? { nameProperty: "-", arn: (name) => buildArn(service, name) };
}

const text = (value: Json | undefined): string => (typeof value === "string" ? value : JSON.stringify(value ?? ""));

function findResource(scope: Scope, logicalId: string): RawResource {
  const resource = scope.raw.Resources[logicalId];
  if (!resource) throw new LocalError(`${scope.name} refers to ${logicalId}, which it does not have: synthesize it again`);
  return resource;
}

function buildName(scope: Scope, logicalId: string): string {
  const { Type, Properties } = findResource(scope, logicalId);
  const explicitName = Properties[findKind(Type).nameProperty];
  if (explicitName !== undefined) return text(resolve(explicitName, scope));
  const name = `${scope.name}-${logicalId}`;
  return Type === "AWS::S3::Bucket" ? name.toLowerCase().slice(0, 63) : name;
}

function reference(scope: Scope, logicalId: string): Json {
  const { Type } = findResource(scope, logicalId);
  const name = buildName(scope, logicalId);
  return findKind(Type).ref?.(name) ?? name;
}

function attribute(scope: Scope, logicalId: string, key: string): Json {
  const name = buildName(scope, logicalId);
  const { Type } = findResource(scope, logicalId);
  if (key === "Arn") return findKind(Type).arn(name);
  if (key.endsWith("Name")) return name.concat(Type === "AWS::S3::Bucket" ? ".s3.amazonaws.com" : "");
  return `${name}.${key}`;
}

const PSEUDO: Record<string, Json> = {
  "AWS::AccountId": ACCOUNT,
  "AWS::Region": REGION,
  "AWS::Partition": "aws",
  "AWS::StackId": `arn:aws:cloudformation:${REGION}:${ACCOUNT}:stack/local/00000000-0000-4000-8000-000000000000`,
  "AWS::URLSuffix": "amazonaws.com",
};

const ref = (name: string, scope: Scope): Json => PSEUDO[name] ?? reference(scope, name);

const substitute = (template: string, scope: Scope): string =>
  template.replaceAll(/\$\{([^}]+)\}/g, (_, name: string) => text(ref(name, scope)));

const List = z.array(z.json());
const isList = (value: Json | undefined): value is Json[] => Array.isArray(value);
const isRecord = (value: Json | undefined): value is Record<string, Json> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function intrinsic(name: string, argument: Json, scope: Scope): Json {
  if (name === "Ref") return ref(text(argument), scope);
  if (name === "Fn::Sub") return substitute(text(argument), scope);
  const [first, second] = isList(argument) ? argument.map((each) => resolve(each, scope)) : [];
  switch (name) {
    case "Fn::GetAtt":
      return attribute(scope, text(first), text(second));
    case "Fn::Join":
      return List.parse(second).map(text).join(text(first));
    case "Fn::Select":
      return z.json().parse(List.parse(second)[Number(first)]);
    case "Fn::Split":
      return text(second).split(text(first));
    default:
      throw new LocalError(
        `${scope.name} uses ${name}, which the local runner does not know: add it to infra/local/template/resolve.ts`,
      );
  }
}

/** The value with all references resolved. */
function resolve(value: Json, scope: Scope): Json {
  if (isList(value)) return value.map((each) => resolve(each, scope));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value);
  const [only] = entries;
  if (only && entries.length === 1 && (only[0] === "Ref" || only[0].startsWith("Fn::"))) return intrinsic(...only, scope);
  return Object.fromEntries(entries.map(([key, each]) => [key, resolve(each, scope)]));
}

export function open(outDir: string, name: string): Scope {
  const path = join(outDir, `${name}.template.json`);
  if (!existsSync(path)) throw new LocalError(`${path} is missing: synthesize the app first`);
  return { name, raw: RawTemplate.parse(JSON.parse(readFileSync(path, "utf8"))) };
}

/** The resources, resolved. */
export const listResources = (scope: Scope): Resource[] =>
  Object.entries(scope.raw.Resources).map(([logicalId, { Type, Properties }]) => {
    const name = buildName(scope, logicalId);
    const properties = resolve(Properties, scope);
    return { logicalId, type: Type, name, arn: findKind(Type).arn(name), properties: isRecord(properties) ? properties : {} };
  });
