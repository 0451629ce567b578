// The synthesized template as this machine runs it: its functions, roles, tables, state machines, rules and REST APIs as typed values.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { LocalError } from "../errors.ts";
import { open, resourcesOf, text, type Json, type Resource } from "./resolve.ts";

export { ACCOUNT, REGION, type Json } from "./resolve.ts";

const FunctionProperties = z.object({
  Code: z.object({ S3Key: z.string().optional() }),
  Handler: z.string().default("index.handler"),
  Runtime: z.string().default(""),
  Timeout: z.number().default(3),
  MemorySize: z.number().default(128),
  Role: z.string(),
  LoggingConfig: z.object({ LogFormat: z.string().default("Text"), ApplicationLogLevel: z.string().default("INFO") }).optional(),
  Environment: z.object({ Variables: z.record(z.string(), z.coerce.string()).default({}) }).default({ Variables: {} }),
});
export interface LambdaFunction {
  logicalId: string;
  name: string;
  arn: string;
  /** The folder of its code; absent if the code is inline or zipped, which cannot run here. */
  directory: string | undefined;
  handler: string;
  environment: Record<string, string>;
  timeoutSeconds: number;
  memoryMegabytes: number;
  role: string;
  /** The lowest level of JSON log lines to keep. Absent if lines are text. */
  logLevel: string | undefined;
}

const PolicyDocument = z.object({
  Version: z.string().default("2012-10-17"),
  Statement: z.array(z.record(z.string(), z.json())),
});
type PolicyDocument = z.infer<typeof PolicyDocument>;
type Role = Resource & { policies: PolicyDocument[] };

const InlinePolicies = z.array(z.object({ PolicyDocument: PolicyDocument })).default([]);
const RoleProperties = z.object({ Policies: InlinePolicies });
const PolicyProperties = z.object({ PolicyDocument, Roles: z.array(z.string()).default([]) });

function rolesOf(resources: Resource[]): Role[] {
  const attached = resources
    .filter(({ type }) => type === "AWS::IAM::Policy")
    .map(({ properties }) => PolicyProperties.parse(properties));
  return resources
    .filter(({ type }) => type === "AWS::IAM::Role")
    .map((role) => {
      const { Policies } = RoleProperties.parse(role.properties);
      const mine = attached.filter(({ Roles }) => Roles.includes(role.name));
      return { ...role, policies: [...Policies, ...mine].map((each) => each.PolicyDocument) };
    });
}

export interface StateMachine {
  logicalId: string;
  name: string;
  arn: string;
  definition: Json;
  role: string;
}
const MachineProperties = z.object({
  DefinitionString: z.string(),
  DefinitionSubstitutions: z.record(z.string(), z.json()).default({}),
  RoleArn: z.string(),
});

// Strict: a target that changes its event (Input, InputPath, InputTransformer) would get a different one here.
const Target = z.strictObject({
  Id: z.string(),
  Arn: z.string().includes(":lambda:", "must be a function"),
  RetryPolicy: z.unknown().optional(),
  DeadLetterConfig: z.unknown().optional(),
});
const RuleProperties = z.object({
  ScheduleExpression: z.string().optional(),
  EventPattern: z.record(z.string(), z.json()).optional(),
  State: z.string().default("ENABLED"),
  Targets: z.array(Target).default([]),
});
export interface Rule {
  logicalId: string;
  name: string;
  arn: string;
  schedule: string | undefined;
  pattern: Record<string, Json> | undefined;
  targets: z.infer<typeof Target>[];
}

const Integration = z.object({
  Type: z.literal("AWS_PROXY"),
  Uri: z.string(),
  TimeoutInMillis: z.number().default(29_000),
});
const MethodProperties = z.object({
  RestApiId: z.string(),
  ResourceId: z.string(),
  HttpMethod: z.string(),
  AuthorizerId: z.string().optional(),
  Integration: Integration,
});
export interface Method {
  httpMethod: string;
  authorizerId: string | undefined;
  integration: z.infer<typeof Integration>;
}

const AuthorizerProperties = z.object({
  RestApiId: z.string(),
  Type: z.literal("REQUEST"),
  AuthorizerUri: z.string(),
  // With an identity source, a request without it would be rejected before the authorizer is called.
  IdentitySource: z.literal("").optional(),
});
export interface Authorizer {
  id: string;
  functionArn: string;
}

const GatewayResponseProperties = z.object({
  RestApiId: z.string(),
  ResponseType: z.string(),
  StatusCode: z.coerce.number().optional(),
  ResponseParameters: z.record(z.string(), z.string()).default({}),
  ResponseTemplates: z.record(z.string(), z.string()).default({}),
});
export type GatewayResponse = z.infer<typeof GatewayResponseProperties>;

export interface ApiResource {
  id: string;
  path: string;
  methods: Method[];
}
export interface RestApi {
  id: string;
  stage: string;
  /** Responses from this size on are compressed; undefined: never. */
  minimumCompressionSize: number | undefined;
  resources: ApiResource[];
  authorizers: Authorizer[];
  gatewayResponses: GatewayResponse[];
}

const PartProperties = z.object({ RestApiId: z.string(), ParentId: z.string(), PathPart: z.string() });
const ApiProperties = z.object({
  BinaryMediaTypes: z.undefined().optional(),
  MinimumCompressionSize: z.number().optional(),
  Body: z.undefined().optional(),
});

/** The function in the address that API Gateway invokes: `…:lambda:path/2015-03-31/functions/ARN/invocations`. */
export const functionIn = (uri: string): string => /functions\/([^/]+)\/invocations/.exec(uri)?.[1] ?? uri;

function apiOf(api: Resource, resources: Resource[]): RestApi {
  const of = (type: string): Resource[] =>
    resources.filter((each) => each.type === `AWS::ApiGateway::${type}` && each.properties["RestApiId"] === api.name);
  const parts = new Map(of("Resource").map(({ name, properties }) => [name, PartProperties.parse(properties)]));
  const pathOf = (id: string): string => {
    const part = parts.get(id);
    return part ? `${pathOf(part.ParentId)}/${part.PathPart}` : "";
  };
  const own = ApiProperties.parse(api.properties);
  const methods = of("Method").map(({ properties }) => MethodProperties.parse(properties));
  return {
    id: api.name,
    stage: of("Stage")[0]?.name ?? "local",
    minimumCompressionSize: own.MinimumCompressionSize,
    resources: [`${api.name}.RootResourceId`, ...parts.keys()].map((id) => ({
      id,
      path: pathOf(id) || "/",
      methods: methods
        .filter(({ ResourceId }) => ResourceId === id)
        .map((method) => ({ httpMethod: method.HttpMethod, authorizerId: method.AuthorizerId, integration: method.Integration })),
    })),
    authorizers: of("Authorizer").map(({ name, properties }) => {
      const { AuthorizerUri } = AuthorizerProperties.parse(properties);
      return { id: name, functionArn: functionIn(AuthorizerUri) };
    }),
    gatewayResponses: of("GatewayResponse").map(({ properties }) => GatewayResponseProperties.parse(properties)),
  };
}

const DistributionProperties = z.object({
  DistributionConfig: z.object({
    Origins: z.array(
      z.object({
        OriginCustomHeaders: z.array(z.object({ HeaderName: z.string(), HeaderValue: z.string() })).default([]),
      }),
    ),
  }),
});

function frontOf([distribution]: Resource[]): Record<string, string> | undefined {
  if (distribution === undefined) return undefined;
  const { Origins } = DistributionProperties.parse(distribution.properties).DistributionConfig;
  const headers = Origins.flatMap(({ OriginCustomHeaders }) => OriginCustomHeaders);
  return Object.fromEntries(headers.map(({ HeaderName, HeaderValue }) => [HeaderName, HeaderValue]));
}

const AssetManifest = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.object({ path: z.string().optional(), packaging: z.string().optional() }),
      destinations: z.record(z.string(), z.object({ objectKey: z.string() })),
    }),
  ),
});

/** From the key under which the CDK would upload an asset to its current folder. */
function assetDirectories(outDir: string, stack: string): Map<string, string> {
  const path = join(outDir, `${stack}.assets.json`);
  if (!existsSync(path)) return new Map();
  return new Map(
    Object.values(AssetManifest.parse(JSON.parse(readFileSync(path, "utf8"))).files).flatMap(({ source, destinations }) =>
      source.packaging === "zip" && source.path !== undefined
        ? Object.values(destinations).map(({ objectKey }): [string, string] => [objectKey, join(outDir, source.path ?? "")])
        : [],
    ),
  );
}

export interface Template {
  stack: string;
  functions: LambdaFunction[];
  roles: Role[];
  tables: Resource[];
  buckets: Resource[];
  secrets: Resource[];
  machines: StateMachine[];
  rules: Rule[];
  apis: RestApi[];
  /** The headers that CloudFront adds to forwarded requests; undefined if the template has no distribution. */
  front: Record<string, string> | undefined;
}

/** What would run functions on AWS but not here; better reported at the start than missed later. */
const NOT_RUN = [
  "AWS::Lambda::EventSourceMapping",
  "AWS::Scheduler::Schedule",
  "AWS::Pipes::Pipe",
  "AWS::Lambda::Url",
  "AWS::CloudFormation::Stack",
];

export function readTemplate(outDir: string, stack: string): Template {
  const resources = resourcesOf(open(outDir, stack));
  const of = (...types: string[]): Resource[] => resources.filter(({ type }) => types.includes(type));
  const [not] = of(...NOT_RUN);
  if (not)
    throw new LocalError(
      `${not.logicalId} is a ${not.type}, which the local runner does not run: add it to infra/local, or do without`,
    );
  const directories = assetDirectories(outDir, stack);
  return {
    stack,
    functions: of("AWS::Lambda::Function").map(({ logicalId, name, arn, properties }) => {
      const parsed = FunctionProperties.parse(properties);
      return {
        logicalId,
        name,
        arn,
        directory: parsed.Runtime.startsWith("nodejs") ? directories.get(parsed.Code.S3Key ?? "") : undefined,
        handler: parsed.Handler,
        environment: parsed.Environment.Variables,
        timeoutSeconds: parsed.Timeout,
        memoryMegabytes: parsed.MemorySize,
        role: parsed.Role,
        logLevel: parsed.LoggingConfig?.LogFormat === "JSON" ? parsed.LoggingConfig.ApplicationLogLevel : undefined,
      };
    }),
    roles: rolesOf(resources),
    tables: of("AWS::DynamoDB::GlobalTable"),
    buckets: of("AWS::S3::Bucket"),
    secrets: of("AWS::SecretsManager::Secret"),
    machines: of("AWS::StepFunctions::StateMachine").map(({ logicalId, name, arn, properties }) => {
      const { DefinitionString, DefinitionSubstitutions, RoleArn } = MachineProperties.parse(properties);
      const definition = DefinitionString.replaceAll(/\$\{(\w+)\}/g, (whole, key: string) =>
        text(DefinitionSubstitutions[key] ?? whole),
      );
      return { logicalId, name, arn, definition: z.json().parse(JSON.parse(definition)), role: RoleArn };
    }),
    rules: of("AWS::Events::Rule").flatMap(({ logicalId, name, arn, properties }) => {
      const { ScheduleExpression, EventPattern, State, Targets } = RuleProperties.parse(properties);
      return State === "DISABLED"
        ? []
        : [{ logicalId, name, arn, schedule: ScheduleExpression, pattern: EventPattern, targets: Targets }];
    }),
    apis: of("AWS::ApiGateway::RestApi").map((api) => apiOf(api, resources)),
    front: frontOf(of("AWS::CloudFront::Distribution")),
  };
}
