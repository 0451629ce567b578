// The synthesized template as this machine runs it: its functions, roles, tables, state machines, rules and REST APIs as typed values.
import { LocalError } from "../errors.ts";
import { apiOf, type RestApi } from "./api.ts";
import { type Front, frontOf } from "./front.ts";
import { functionsOf, type LambdaFunction } from "./functions.ts";
import { machinesOf, type StateMachine } from "./machines.ts";
import { open, type Resource, resourcesOf } from "./resolve.ts";
import { type Role, rolesOf } from "./roles.ts";
import { type Rule, rulesOf } from "./rules.ts";

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
  /** Undefined if the template has no distribution. */
  front: Front | undefined;
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
  return {
    stack,
    functions: functionsOf(of("AWS::Lambda::Function"), outDir, stack),
    roles: rolesOf(resources),
    tables: of("AWS::DynamoDB::GlobalTable"),
    buckets: of("AWS::S3::Bucket"),
    secrets: of("AWS::SecretsManager::Secret"),
    machines: machinesOf(of("AWS::StepFunctions::StateMachine")),
    rules: rulesOf(of("AWS::Events::Rule")),
    apis: of("AWS::ApiGateway::RestApi").map((api) => apiOf(api, resources)),
    front: frontOf(of("AWS::CloudFront::Distribution"), of("AWS::CloudFront::ResponseHeadersPolicy")),
  };
}
