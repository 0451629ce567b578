// Calls of the real SDK to the local AWS: signatures, permissions, and each service's responses.
import {
  BatchGetItemCommand,
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import { SecretsManagerClient, GetSecretValueCommand, PutSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from "@aws-sdk/client-sfn";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Served } from "../harness/aws.ts";
import { requestTo, signer } from "./signer.ts";
import { allow, MACHINE, SECRET, startLocal, TABLE, type Local } from "./services.ts";

let local: Local;
beforeAll(async () => (local = await startLocal()), 60_000);
afterAll(() => local.stop());
beforeEach(() => local.aws.calls.clear());

const Key = { pk: { S: "ACC#1" }, sk: { S: "ins_1" } };
const get = new GetItemCommand({ TableName: "service", Key });
const put = new PutItemCommand({ TableName: "service", Item: { ...Key, status: { S: "running" } } });
const byStatus = (IndexName?: string): QueryCommand =>
  new QueryCommand({
    TableName: "service",
    ...(IndexName === undefined ? {} : { IndexName }),
    KeyConditionExpression: "#k = :k",
    ExpressionAttributeNames: { "#k": IndexName === undefined ? "pk" : "status" },
    ExpressionAttributeValues: { ":k": { S: IndexName === undefined ? "ACC#1" : "running" } },
  });

test("a function can do what its policy allows, and a denial names who, what and where", async () => {
  const client = new DynamoDBClient(local.as("reader", allow(["dynamodb:GetItem"], TABLE)));
  await expect(client.send(get)).resolves.toMatchObject({});
  await expect(client.send(put)).rejects.toMatchObject({
    name: "AccessDeniedException",
    message: expect.stringMatching(
      /reader .*not authorized to perform: dynamodb:PutItem on resource: arn:aws:dynamodb:.*table\/service/,
    ),
  });
  expect(local.log.at(-1)).toContain("dynamodb:PutItem");
});

test("an index needs its own permission", async () => {
  const table = new DynamoDBClient(local.as("table", allow(["dynamodb:Query"], TABLE)));
  const index = new DynamoDBClient(local.as("index", allow(["dynamodb:Query"], `${TABLE}/index/*`)));
  await expect(table.send(byStatus())).resolves.toMatchObject({ Count: 0 });
  await expect(table.send(byStatus("by-status"))).rejects.toThrow("index/by-status");
  await expect(index.send(byStatus("by-status"))).resolves.toMatchObject({ Count: 0 });
  await expect(index.send(byStatus())).rejects.toThrow("not authorized");
});

test("a transaction needs the permissions of its writes, and a batch the permission for batches", async () => {
  const transaction = new TransactWriteItemsCommand({
    TransactItems: [
      { Put: { TableName: "service", Item: { ...Key, n: { N: "1" } } } },
      {
        ConditionCheck: {
          TableName: "service",
          Key: { pk: { S: "x" }, sk: { S: "x" } },
          ConditionExpression: "attribute_not_exists(pk)",
        },
      },
    ],
  });
  const half = new DynamoDBClient(local.as("half", allow(["dynamodb:PutItem"], TABLE)));
  await expect(half.send(transaction)).rejects.toThrow("dynamodb:ConditionCheckItem");
  const both = new DynamoDBClient(local.as("both", allow(["dynamodb:PutItem", "dynamodb:ConditionCheckItem"], TABLE)));
  await expect(both.send(transaction)).resolves.toBeDefined();
  const batch = new BatchGetItemCommand({ RequestItems: { service: { Keys: [Key] } } });
  await expect(new DynamoDBClient(local.as("getter", allow(["dynamodb:GetItem"], TABLE))).send(batch)).rejects.toThrow(
    "dynamodb:BatchGetItem",
  );
});

test("a policy can limit a function to partitions with a given prefix", async () => {
  const condition = { "ForAllValues:StringLike": { "dynamodb:LeadingKeys": ["ACC#*"] } };
  const tied = { ...allow(["dynamodb:GetItem", "dynamodb:Query", "dynamodb:BatchGetItem"], TABLE), Condition: condition };
  const client = new DynamoDBClient(local.as("tied", tied));
  const other = { pk: { S: "USER#1" }, sk: { S: "x" } };
  await expect(client.send(get)).resolves.toBeDefined();
  await expect(client.send(byStatus())).resolves.toBeDefined();
  await expect(client.send(new GetItemCommand({ TableName: "service", Key: other }))).rejects.toThrow("not authorized");
  await expect(client.send(new BatchGetItemCommand({ RequestItems: { service: { Keys: [Key, other] } } }))).rejects.toThrow(
    "not authorized",
  );
});

test("a wrong secret, an unknown key, another region and an unsigned request are rejected", async () => {
  const validConfig = local.as("someone");
  const send = (config: typeof validConfig): Promise<unknown> => new DynamoDBClient(config).send(get);
  await expect(send({ ...validConfig, credentials: { ...validConfig.credentials, secretAccessKey: "guessed" } })).rejects.toThrow(
    "signature",
  );
  await expect(send({ ...validConfig, credentials: { ...validConfig.credentials, accessKeyId: "AKIANOBODY" } })).rejects.toThrow(
    "security token",
  );
  await expect(send({ ...validConfig, region: "eu-central-1" })).rejects.toThrow("scoped");
  const unsigned = await fetch(local.aws.url, {
    method: "POST",
    body: "{}",
    headers: { "x-amz-target": "DynamoDB_20120810.ListTables" },
  });
  expect([unsigned.status, await unsigned.text()]).toEqual([403, expect.stringContaining("MissingAuthenticationToken")]);
});

test("a body or header changed after signing is rejected, and so is a clock that is an hour off", async () => {
  const { credentials } = local.as("someone");
  const send = async (
    change: { body?: string; headers?: Record<string, string> } = {},
    signingDate = new Date(),
  ): Promise<string> => {
    const body = JSON.stringify(get.input);
    const headers = { "x-amz-target": "DynamoDB_20120810.GetItem", "content-type": "application/x-amz-json-1.0" };
    const request = requestTo(local.aws.url, { method: "POST", headers, body });
    const signed = await signer("dynamodb", credentials).sign(request, { signingDate });
    return (
      await fetch(local.aws.url, { method: "POST", headers: { ...signed.headers, ...change.headers }, body: change.body ?? body })
    ).text();
  };
  expect(await send()).toContain("{");
  expect(await send()).not.toContain("__type");
  expect(await send({ body: JSON.stringify(get.input).replace("ins_1", "ins_2") })).toContain("InvalidSignatureException");
  expect(await send({ headers: { "x-amz-target": "DynamoDB_20120810.Scan" } })).toContain("InvalidSignatureException");
  expect(await send({ headers: { "x-amz-extra": "1" } })).toContain("not signed");
  expect(await send({}, new Date(Date.now() - 3_600_000))).toContain("too large");
});

test("calls are counted with their cost, and responses contain the cost only on request", async () => {
  const client = new DynamoDBClient(local.as("counter"));
  const observedCalls: Served[] = [];
  const unsubscribe = local.aws.calls.subscribe((call) => observedCalls.push(call));
  await client.send(put);
  expect(await client.send(get)).not.toHaveProperty("ConsumedCapacity");
  expect(await client.send(new GetItemCommand({ TableName: "service", Key, ReturnConsumedCapacity: "TOTAL" }))).toHaveProperty(
    "ConsumedCapacity",
  );
  unsubscribe();
  const calls = local.aws.calls.list();
  expect(calls.map(({ principal, action, status, capacity }) => [principal, action, status, capacity])).toEqual([
    ["counter", "PutItem", 200, expect.any(Number)],
    ["counter", "GetItem", 200, 0.5],
    ["counter", "GetItem", 200, 0.5],
  ]);
  expect(observedCalls).toEqual(calls);
});

test("DynamoDB's errors reach the caller unchanged and are recorded", async () => {
  const once = new PutItemCommand({
    ...put.input,
    ConditionExpression: "attribute_not_exists(pk)",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
  const client = new DynamoDBClient(local.as("writer"));
  await client.send(put);
  await expect(client.send(once)).rejects.toMatchObject({ name: "ConditionalCheckFailedException", Item: Key });
  expect(local.aws.calls.list().at(-1)).toMatchObject({ status: 400, error: "ConditionalCheckFailedException" });
});

test("a service that is down fails calls after their retries, and no other service", async () => {
  const config = { ...local.as("someone"), maxAttempts: 2 };
  for (const mode of [true, "refuse"] as const) {
    local.aws.outage("dynamodb", mode);
    await expect(new DynamoDBClient(config).send(get)).rejects.toThrow(mode === true ? "down" : /ECONNRESET|socket hang up/);
    await expect(new SecretsManagerClient(config).send(new GetSecretValueCommand({ SecretId: "jwt" }))).resolves.toBeDefined();
  }
  expect(local.aws.calls.list().filter(({ service, status }) => service === "dynamodb" && status === 500)).toHaveLength(2);
  local.aws.outage("dynamodb", false);
  await expect(new DynamoDBClient(config).send(new ListTablesCommand({}))).resolves.toMatchObject({ TableNames: ["service"] });
});

test("a silent service keeps its callers waiting, and no other service", async () => {
  const config = { ...local.as("someone"), maxAttempts: 1, requestHandler: { requestTimeout: 100, throwOnRequestTimeout: true } };
  local.aws.outage("dynamodb", "silent");
  await expect(new DynamoDBClient(config).send(get)).rejects.toMatchObject({ name: "TimeoutError" });
  await expect(new SecretsManagerClient(config).send(new GetSecretValueCommand({ SecretId: "jwt" }))).resolves.toBeDefined();
  local.aws.outage("dynamodb", false);
  await expect(new DynamoDBClient(config).send(get)).resolves.toBeDefined();
});

test("held indexes show the earlier data, and the table the current data", async () => {
  const client = new DynamoDBClient(local.as("someone"));
  const item = (id: string, status: string) => ({ pk: { S: "held" }, sk: { S: id }, status: { S: status } });
  const write = (id: string, status: string) => client.send(new PutItemCommand({ TableName: "service", Item: item(id, status) }));
  const listed = async (status: string): Promise<unknown> => {
    const query = { KeyConditionExpression: "#s = :s", ExpressionAttributeNames: { "#s": "status" } };
    const values = { ExpressionAttributeValues: { ":s": { S: status } } };
    const response = await client.send(new QueryCommand({ TableName: "service", IndexName: "by-status", ...query, ...values }));
    return response.Items?.map(({ sk }) => sk?.S);
  };
  await write("1", "waiting");
  const release = await local.aws.holdIndexes();
  await write("1", "moved");
  await write("2", "waiting");
  expect([await listed("waiting"), await listed("moved")]).toEqual([["1"], []]);
  const Key = { pk: { S: "held" }, sk: { S: "1" } };
  expect((await client.send(new GetItemCommand({ TableName: "service", Key }))).Item?.["status"]).toEqual({ S: "moved" });
  await release();
  expect([await listed("waiting"), await listed("moved")]).toEqual([["2"], ["1"]]);
  await expect(client.send(new ListTablesCommand({}))).resolves.toMatchObject({ TableNames: ["service"] });
});

test("starting an execution needs the permission for its state machine, and a second one with the name fails as on AWS", async () => {
  const client = new SFNClient(local.as("starter", allow(["states:StartExecution"], MACHINE)));
  const start = new StartExecutionCommand({ stateMachineArn: MACHINE, name: "op_1", input: "{}" });
  expect(await client.send(start)).toMatchObject({ startDate: new Date(1_790_000_000_000) });
  await expect(client.send(start)).rejects.toMatchObject({ name: "ExecutionAlreadyExists" });
  await expect(client.send(new StartExecutionCommand({ stateMachineArn: `${MACHINE}-other` }))).rejects.toThrow(
    "create-server-other",
  );
  const executionArn = `${MACHINE.replace("stateMachine", "execution")}:op_1`;
  await expect(client.send(new DescribeExecutionCommand({ executionArn }))).rejects.toThrow(
    "states:DescribeExecution on resource: arn:aws:states",
  );
});

test("a secret can be read by name or ARN with the permission, and a new value makes the old one AWSPREVIOUS", async () => {
  const reader = new SecretsManagerClient(local.as("reader", allow(["secretsmanager:GetSecretValue"], SECRET)));
  const first = await reader.send(new GetSecretValueCommand({ SecretId: "jwt" }));
  expect(first.SecretString).toMatch(/^[A-Za-z0-9]{40}$/);
  await expect(reader.send(new PutSecretValueCommand({ SecretId: SECRET, SecretString: "x" }))).rejects.toThrow(
    "secretsmanager:PutSecretValue",
  );
  const operator = new SecretsManagerClient(local.as("operator"));
  await operator.send(new PutSecretValueCommand({ SecretId: "jwt", SecretString: "rotated" }));
  expect(await reader.send(new GetSecretValueCommand({ SecretId: SECRET }))).toMatchObject({
    SecretString: "rotated",
    VersionStages: ["AWSCURRENT"],
  });
  const previous = await reader.send(new GetSecretValueCommand({ SecretId: SECRET, VersionStage: "AWSPREVIOUS" }));
  expect([previous.SecretString, previous.VersionId]).toEqual([first.SecretString, first.VersionId]);
  await expect(operator.send(new GetSecretValueCommand({ SecretId: "none" }))).rejects.toMatchObject({
    name: "ResourceNotFoundException",
  });
});
