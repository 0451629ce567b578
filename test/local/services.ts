// Shared by the tests of the local AWS: a DynamoDB Local, a bucket, a secret, and principals with the policies that a test gives
// them.
import { startAws, type Aws, type Principal } from "../../infra/local/aws/aws.ts";
import { type Faults, faultsIn } from "../harness/aws.ts";
import { createTable, startDynamoDb } from "../../infra/local/dynamodb/dynamodb.ts";
import { AwsFault } from "../../infra/local/errors.ts";
import type { PolicyDocument } from "../../infra/local/iam/iam.ts";
import { openSecrets } from "../../infra/local/secrets/secrets.ts";
import { openStorage } from "../../infra/local/s3/storage.ts";
import { ACCOUNT, REGION } from "../../infra/local/template/resolve.ts";

export const BUCKET = "backups";
export const TABLE = `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/service`;
export const MACHINE = `arn:aws:states:${REGION}:${ACCOUNT}:stateMachine:create-server`;
export const SECRET = `arn:aws:secretsmanager:${REGION}:${ACCOUNT}:secret:jwt-local0`;
/** The operator's settings of the live environment: none. */
export const PROVIDERS = `arn:aws:secretsmanager:${REGION}:${ACCOUNT}:secret:providers-local0`;
export const TABLE_PROPERTIES = {
  TableName: "service",
  AttributeDefinitions: ["pk", "sk", "status"].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
  KeySchema: [
    { AttributeName: "pk", KeyType: "HASH" },
    { AttributeName: "sk", KeyType: "RANGE" },
  ],
  GlobalSecondaryIndexes: [
    { IndexName: "by-status", KeySchema: [{ AttributeName: "status", KeyType: "HASH" }], Projection: { ProjectionType: "ALL" } },
  ],
  StreamSpecification: { StreamViewType: "NEW_IMAGE" },
};

interface ClientConfig {
  endpoint: string;
  region: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
}

export interface Local {
  aws: Aws & Faults;
  dir: string | undefined;
  /** Java's process. */
  databasePid: number | undefined;
  /** The configuration of an SDK client for a principal with these statements; without any: the operator. */
  as: (name: string, ...statements: object[]) => ClientConfig;
  /** The local AWS's log. */
  log: string[];
  stop: () => Promise<void>;
}

export const allow = (actions: string[], ...resources: string[]): object => ({
  Effect: "Allow",
  Action: actions,
  Resource: resources,
});

interface Options {
  /** The folder of the bucket. */
  dir?: string;
  dynamodb?: boolean;
  /** The folder of the database; without it the database is in memory. */
  databaseDir?: string;
  /** How long a transaction keeps others from its items. */
  transactionMilliseconds?: number;
  /** Indexes in addition to its own, with their partition keys: those of the service sort by a record's number. */
  indexes?: Readonly<Record<string, string>>;
}

/** Points this process at a local AWS, as its operator. */
export function useLocal(local: Local, variables: Record<string, string>): void {
  const { endpoint, region, credentials } = local.as("operator");
  Object.assign(process.env, {
    AWS_REGION: region,
    AWS_ENDPOINT_URL: endpoint,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    ...variables,
  });
}

const withIndexes = (indexes: Readonly<Record<string, string>>): typeof TABLE_PROPERTIES => ({
  ...TABLE_PROPERTIES,
  AttributeDefinitions: [
    ...TABLE_PROPERTIES.AttributeDefinitions,
    ...["number", ...Object.values(indexes)].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
  ],
  GlobalSecondaryIndexes: [
    ...TABLE_PROPERTIES.GlobalSecondaryIndexes,
    ...Object.entries(indexes).map(([IndexName, partition]) => ({
      IndexName,
      KeySchema: [
        { AttributeName: partition, KeyType: "HASH" },
        { AttributeName: "number", KeyType: "RANGE" },
      ],
      Projection: { ProjectionType: "ALL" },
    })),
  ],
});

export async function startLocal(options: Options = {}): Promise<Local> {
  const { dir, dynamodb = true, databaseDir, transactionMilliseconds, indexes } = options;
  const database = dynamodb ? await startDynamoDb({ dataDir: databaseDir }) : undefined;
  if (database) await createTable(database, indexes === undefined ? TABLE_PROPERTIES : withIndexes(indexes));
  const storage = await openStorage({ dir });
  await storage.createBucket(BUCKET);
  const secrets = openSecrets({});
  secrets.ensure({
    name: "jwt",
    arn: SECRET,
    properties: { GenerateSecretString: { PasswordLength: 40, ExcludePunctuation: true } },
  });
  secrets.ensure({ name: "providers", arn: PROVIDERS, properties: { SecretString: "{}" } });
  const started = new Set<string>();
  const principals = new Map<string, Principal>();
  const log: string[] = [];
  const aws = await startAws({
    principals: (accessKeyId) => principals.get(accessKeyId),
    services: {
      database: database ?? { url: "http://127.0.0.1:1", accessKeyId: "local" },
      flush: async () => database?.flush(),
      // The interpreter of state machines has its own tests; here only the way of its results and errors to a caller matters.
      states: async (_action, input) => {
        const name = JSON.stringify(input);
        if (started.has(name)) throw new AwsFault("ExecutionAlreadyExists", "Execution Already Exists");
        started.add(name);
        return {
          executionArn: "arn:aws:states:us-east-1:000000000000:execution:create-server:1",
          startDate: new Date(1_790_000_000_000),
        };
      },
      secretsmanager: secrets.call,
      sqs: async () => undefined,
      lambda: async () => undefined,
      written: () => undefined,
      storage,
    },
    log: (line) => log.push(line),
    transactionMilliseconds,
  });
  const tables = database ?? { url: "http://127.0.0.1:1", accessKeyId: "local" };
  return {
    aws: { ...aws, ...faultsIn(aws, tables) },
    dir,
    databasePid: database?.pid,
    log,
    as(name, ...statements) {
      const policies: PolicyDocument[] = [{ Version: "2012-10-17", Statement: statements }];
      const accessKeyId = `AKIA${principals.size}`;
      const secretAccessKey = `secret of ${name}`;
      principals.set(accessKeyId, {
        name,
        accessKeyId,
        secretAccessKey,
        policies: statements.length === 0 ? "operator" : policies,
      });
      return { endpoint: aws.url, region: REGION, credentials: { accessKeyId, secretAccessKey } };
    },
    async stop() {
      await aws.stop();
      await storage.stop();
      await database?.stop();
    },
  };
}
