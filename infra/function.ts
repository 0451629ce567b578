// Our Lambda function: one bundle, and a role that allows what was declared and nothing else.
import { join } from "node:path";
import { ArnFormat, CfnElement, type Duration, Stack, Validations } from "aws-cdk-lib";
import type { TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { type IRole, PolicyDocument, PolicyStatement, Role } from "aws-cdk-lib/aws-iam";
import {
  ApplicationLogLevel,
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
} from "aws-cdk-lib/aws-lambda";
import type { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import type { Secret } from "aws-cdk-lib/aws-secretsmanager";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { StateMachine } from "aws-cdk-lib/aws-stepfunctions";
import { Construct } from "constructs";
import type { KeyName } from "../shared/domain/grants.ts";
import { WORKFLOW_NAMES, type WorkflowName } from "../shared/domain/lifecycle.ts";
import { machineVariable } from "../shared/domain/workflow.ts";
import { serviceForUs } from "./principals.ts";
import type { Brand } from "./dashboard-headers.ts";
import { stateMachineName, type Settings } from "./settings.ts";
import type { Environment } from "../shared/domain/environments.ts";
import { Deliveries, QUEUE_VARIABLES, type QueueName } from "./deliveries.ts";
import { Mail } from "./mail.ts";
import type { Store, StoreAccess } from "./store.ts";
import { INDEXES } from "./table.ts";

/** AWS allows no longer run. */
export const LAMBDA_MINUTES_MAX = 15;

const READ = ["GetItem", "BatchGetItem", "Query"];
const TABLE_ACTIONS = {
  read: READ,
  write: [...READ, "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"],
  /** One conditional write checks, counts and records a credential. */
  authorize: ["UpdateItem"],
} as const;

/** What a function may do; its permissions and its environment follow from it. */
export interface Access {
  table?: keyof typeof TABLE_ACTIONS | undefined;
  starts?: readonly WorkflowName[];
  /** Whether it may describe the executions of the state machines that it may start. */
  describes?: boolean;
  keys?: readonly KeyName[];
  /** Whether it may read the operator's configuration, if there is one. */
  configuration?: boolean;
  storage?: StoreAccess | undefined;
  /** Whether it puts messages into the queues of deliveries, or also takes them out. */
  deliveries?: "send" | "work";
  /** Whether it queues mails, or takes them out of the queue and sends them. */
  mails?: "send" | "work";
  /** Whether it may have logs read from machines. */
  readsLogs?: boolean;
  /** Whether it needs to know the operator's domain. */
  domain?: boolean;
  /** Whether the table's stream invokes it. */
  stream?: boolean;
  /** The queue into which Lambda puts, on the function's behalf, the events that it could not handle. */
  failures?: Queue;
}

/** The resources that functions use. */
interface Parts {
  environment: Environment;
  settings: Settings;
  /** Folder of the bundles. */
  bundles: string;
  table: TableV2;
  keys: Readonly<Record<KeyName, Secret>>;
  configuration: Secret | undefined;
  store: Store;
  /** The operator's own domain. */
  domain: string | undefined;
  /** The address that mails come from, and what they look like. */
  mailSender: string | undefined;
  brand: Brand | null;
}

/** Bundles start in the time that half of the processor takes at twice the price. */
export const MEMORY_MEGABYTES = 512;
/** Lambda gives a function with so much memory one whole processor, and one with less a share of it. */
export const ONE_PROCESSOR_MEGABYTES = 1769;

interface FunctionProps {
  /** Folder of its bundle. */
  bundle: string;
  description: string;
  access: Access;
  timeout: Duration;
  memoryMegabytes?: number | undefined;
  logGroup: LogGroup;
  /** Whether it continues the trace of a request or an execution. Otherwise AWS would trace every run. */
  traced?: boolean;
  /** How many runs of it at a time find capacity whatever else runs, and the most that it may have. */
  reserved?: number | undefined;
}

/** Creates functions. Functions with the same permissions share a role: a stack cannot have one for each. */
export class Functions extends Construct {
  private readonly parts: Parts;
  readonly table: TableV2;
  readonly queues: Readonly<Record<QueueName, Queue>>;
  readonly mail: Mail;
  private readonly roles = new Map<string, IRole>();
  /** What reads logs from machines; the functions that may invoke it come later. */
  logReader: LambdaFunction | undefined;
  /** The state machines, as they are created: the functions that start them come later. */
  readonly machines = new Map<WorkflowName, StateMachine>();

  constructor(scope: Construct, id: string, parts: Parts) {
    super(scope, id);
    this.parts = parts;
    this.table = parts.table;
    ({ queues: this.queues } = new Deliveries(this, "deliveries"));
    this.mail = new Mail(this, "mail", { environment: parts.environment, sender: parts.mailSender, brand: parts.brand });
    Validations.of(this).acknowledge(
      { id: "AwsSolutions-IAM5[Resource::*]", reason: "X-Ray and the list of streams have no resources to name" },
      ...parts.store.wildcards.map(({ resource, reason }) => ({ id: `AwsSolutions-IAM5[Resource::${resource}]`, reason })),
      ...WORKFLOW_NAMES.map((name) => ({
        id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:${stateMachineName(parts.environment, name)}:*]`,
        reason: "Executions are named by operations: all of this machine's, and no other's",
      })),
    );
  }

  make(
    scope: Construct,
    id: string,
    {
      bundle,
      description,
      access,
      timeout,
      memoryMegabytes = MEMORY_MEGABYTES,
      logGroup,
      traced = true,
      reserved,
    }: FunctionProps,
  ): LambdaFunction {
    return new LambdaFunction(scope, id, {
      description,
      code: Code.fromAsset(join(this.parts.bundles, bundle)),
      handler: "index.handler",
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: memoryMegabytes,
      timeout,
      environment: this.environmentOf(access),
      role: this.roleFor(access, logGroup),
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel[this.parts.settings.logLevel],
      // The START and REPORT lines of every invocation are twice as long as our own lines.
      systemLogLevelV2: SystemLogLevel.WARN,
      tracing: traced ? Tracing.ACTIVE : Tracing.DISABLED,
      ...(reserved !== undefined && { reservedConcurrentExecutions: reserved }),
    });
  }

  private environmentOf(access: Access): Record<string, string> {
    const { starts = [], keys = [], configuration = false, storage, deliveries, mails, domain = false } = access;
    const { environment, table, store } = this.parts;
    const secret = configuration ? this.parts.configuration : undefined;
    return {
      TABLE_NAME: table.tableName,
      ENVIRONMENT: environment,
      ...Object.fromEntries(starts.map((name) => [machineVariable(name), this.machine(name).stateMachineArn])),
      ...Object.fromEntries(keys.map((name) => [`${name.toUpperCase()}_KEY`, this.parts.keys[name].secretArn])),
      ...(secret === undefined ? {} : { PROVIDERS_SECRET: secret.secretArn }),
      ...(storage === undefined ? {} : store.variables),
      ...(access.readsLogs === true && { READ_LOGS_FUNCTION: this.requireLogReader().functionArn }),
      ...(domain && this.parts.domain !== undefined && { OWN_DOMAIN: this.parts.domain }),
      ...(deliveries === undefined
        ? {}
        : Object.fromEntries(this.namedQueues().map(([name, { queueUrl }]) => [QUEUE_VARIABLES[name], queueUrl]))),
      ...(mails === "send" && { MAILS_QUEUE: this.mail.queue.queueUrl }),
      ...(mails === "work" && { ...this.mail.variables, UNSENT_QUEUE: this.mail.unsent.queueUrl }),
    };
  }

  private requireLogReader(): LambdaFunction {
    if (this.logReader === undefined)
      throw new Error("The function that reads logs is not built yet, but another must invoke it");
    return this.logReader;
  }

  private namedQueues(): [QueueName, Queue][] {
    const { deliveries, slow } = this.queues;
    return [
      ["deliveries", deliveries],
      ["slow", slow],
    ];
  }

  private roleFor(access: Access, logGroup: LogGroup): IRole {
    const shape = describeShape(access, logGroup);
    const existing = this.roles.get(shape);
    if (existing !== undefined) return existing;
    const role = new Role(this, shape, {
      description: `May ${shape}`,
      assumedBy: serviceForUs("lambda.amazonaws.com"),
      inlinePolicies: { access: new PolicyDocument({ statements: this.statementsFor(access, logGroup) }) },
    });
    // The CDK would add its own policy for what is declared here already.
    const fixed = role.withoutPolicyUpdates();
    this.roles.set(shape, fixed);
    return fixed;
  }

  private statementsFor(access: Access, logGroup: LogGroup): PolicyStatement[] {
    const { table, starts = [], describes = false, keys = [], configuration = false, storage, failures } = access;
    const { tableArn } = this.parts.table;
    const statements = [
      allow("logs", ["CreateLogStream", "PutLogEvents"], [logGroup.logGroupArn]),
      allow("xray", TRACING, ["*"]),
    ];
    if (table !== undefined) {
      const indexes = table === "authorize" ? [] : Object.keys(INDEXES).map((name) => `${tableArn}/index/${name}`);
      statements.push(allow("dynamodb", TABLE_ACTIONS[table], [tableArn]));
      if (indexes.length > 0) statements.push(allow("dynamodb", ["Query"], indexes));
    }
    if (starts.length > 0) {
      const machines = starts.map((name) => this.machine(name).stateMachineArn);
      statements.push(allow("states", ["StartExecution"], machines));
      if (describes)
        statements.push(
          allow(
            "states",
            ["DescribeExecution"],
            starts.map((name) => this.executionsOf(name)),
          ),
        );
    }
    const secrets = keys.map((name) => this.parts.keys[name].secretArn);
    if (configuration && this.parts.configuration !== undefined) secrets.push(this.parts.configuration.secretArn);
    if (secrets.length > 0) statements.push(allow("secretsmanager", ["GetSecretValue"], secrets));
    if (storage !== undefined) statements.push(...this.parts.store.statementsFor(storage));
    statements.push(...this.eventStatements(access), ...this.mailStatements(access));
    if (access.readsLogs === true) statements.push(allow("lambda", ["InvokeFunction"], [this.requireLogReader().functionArn]));
    if (failures !== undefined) statements.push(allow("sqs", ["SendMessage"], [failures.queueArn]));
    return statements;
  }

  /**
   * What a function needs whose invocations come from a queue or from the stream: Lambda reads them with the function's own
   * permissions.
   */
  private eventStatements({ deliveries, stream = false }: Access): PolicyStatement[] {
    const queues = this.namedQueues().map(([, { queueArn }]) => queueArn);
    const { tableStreamArn } = this.parts.table;
    return [
      ...(deliveries === undefined ? [] : [allow("sqs", ["SendMessage"], queues)]),
      ...(deliveries === "work" ? [allow("sqs", ["ReceiveMessage", "DeleteMessage", "GetQueueAttributes"], queues)] : []),
      ...(stream && tableStreamArn !== undefined
        ? [
            allow("dynamodb", ["DescribeStream", "GetRecords", "GetShardIterator"], [tableStreamArn]),
            allow("dynamodb", ["ListStreams"], ["*"]),
          ]
        : []),
    ];
  }

  private mailStatements({ mails }: Access): PolicyStatement[] {
    const { queue, unsent } = this.mail;
    if (mails === "send") return [allow("sqs", ["SendMessage"], [queue.queueArn])];
    if (mails === undefined) return [];
    return [
      allow("sqs", ["ReceiveMessage", "DeleteMessage", "GetQueueAttributes"], [queue.queueArn]),
      allow("sqs", ["SendMessage"], [unsent.queueArn]),
      ...this.mail.statements(),
    ];
  }

  /** Operations name executions, so only the state machine is known in advance. */
  private executionsOf(name: WorkflowName): string {
    const resourceName = `${stateMachineName(this.parts.environment, name)}:*`;
    return Stack.of(this).formatArn({
      service: "states",
      resource: "execution",
      resourceName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
  }

  private machine(name: WorkflowName): StateMachine {
    const machine = this.machines.get(name);
    if (machine === undefined) throw new Error(`The state machine ${name} is not built yet, but a function must start it`);
    return machine;
  }
}

/** Names a role by what it allows. */
function describeShape(access: Access, logGroup: LogGroup): string {
  const {
    table,
    starts = [],
    describes = false,
    keys = [],
    configuration = false,
    storage,
    failures,
    deliveries,
    mails,
    stream,
    readsLogs,
  } = access;
  const parts = [
    table && `${table} table`,
    starts.length > 0 && `start ${describes ? "and look at " : ""}${starts.join(" ")}`,
    keys.length > 0 && `use ${keys.join(" ")}`,
    configuration && "read configuration",
    deliveries && (deliveries === "send" ? "queue deliveries" : "deliver"),
    mails && (mails === "send" ? "queue mails" : "send mails"),
    stream && "read the stream",
    readsLogs && "have logs read",
  ];
  const phrases = [...parts, storage && `${storage} backups`, failures && `put failures into ${failures.node.id}`].filter(
    (part) => typeof part === "string",
  );
  return `${phrases.join(", ") || "do nothing"}, log ${logGroup.node.id}`;
}

const allow = (service: string, actions: readonly string[], resources: string[]): PolicyStatement =>
  new PolicyStatement({ actions: actions.map((action) => `${service}:${action}`), resources });

const TRACING = ["PutTraceSegments", "PutTelemetryRecords"];

export function readLogicalId({ stack, node }: Pick<Bucket, "stack" | "node">): string {
  const { defaultChild } = node;
  if (defaultChild === undefined || !CfnElement.isCfnElement(defaultChild)) throw new Error(`${node.path} is no resource`);
  return stack.getLogicalId(defaultChild);
}
