// The synthesized template as this machine runs it: its functions, roles, tables, state machines, rules and REST APIs as typed
// values.
import { LocalError } from "../errors.ts";
import { readApi, type RestApi } from "./api.ts";
import { type Front, readFront } from "./front.ts";
import { readFunctions, type LambdaFunction } from "./functions.ts";
import { readMachines, type StateMachine } from "./machines.ts";
import { type Mappings, readMappings } from "./mappings.ts";
import { open, type Resource, listResources } from "./resolve.ts";
import { type Role, readRoles } from "./roles.ts";
import { type Rule, readRules } from "./rules.ts";

export interface Template {
  stack: string;
  functions: LambdaFunction[];
  roles: Role[];
  tables: Resource[];
  buckets: Resource[];
  secrets: Resource[];
  machines: StateMachine[];
  rules: Rule[];
  queues: Resource[];
  mappings: Mappings;
  apis: RestApi[];
  /** Undefined if the template has no distribution. */
  front: Front | undefined;
}

/** What would run functions on AWS but not here; better reported at the start than missed later. */
const NOT_RUN = ["AWS::Scheduler::Schedule", "AWS::Pipes::Pipe", "AWS::Lambda::Url", "AWS::CloudFormation::Stack"];

export function readTemplate(outDir: string, stack: string): Template {
  const resources = listResources(open(outDir, stack));
  const of = (...types: string[]): Resource[] => resources.filter(({ type }) => types.includes(type));
  const [not] = of(...NOT_RUN);
  if (not)
    throw new LocalError(
      `${not.logicalId} is a ${not.type}, which the local runner does not run: add it to infra/local, or do without`,
    );
  return {
    stack,
    functions: readFunctions(of("AWS::Lambda::Function"), outDir, stack),
    roles: readRoles(resources),
    tables: of("AWS::DynamoDB::GlobalTable"),
    buckets: of("AWS::S3::Bucket"),
    secrets: of("AWS::SecretsManager::Secret"),
    machines: readMachines(of("AWS::StepFunctions::StateMachine")),
    queues: of("AWS::SQS::Queue"),
    mappings: readMappings(of("AWS::Lambda::EventSourceMapping")),
    rules: readRules(of("AWS::Events::Rule")),
    apis: of("AWS::ApiGateway::RestApi").map((api) => readApi(api, resources)),
    front: readFront(of("AWS::CloudFront::Distribution"), of("AWS::CloudFront::ResponseHeadersPolicy")),
  };
}
