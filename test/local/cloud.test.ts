// The complete local runner: it starts, keeps its data over a restart, and belongs to one process at a time.
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DynamoDBClient, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { SFNClient, StartExecutionCommand, StopExecutionCommand } from "@aws-sdk/client-sfn";
import { expect, test } from "vitest";
import * as z from "zod";
import { clouds } from "./fixture/clouds.ts";

const environment = { AWS_ENDPOINT_URL: z.url(), AWS_ACCESS_KEY_ID: z.string(), AWS_SECRET_ACCESS_KEY: z.string() };
const response = z.object({ env: z.object({ ...environment, MACHINE_ARN: z.string() }) });

const { start, stop } = clouds();

const clientOptions = (endpoint: string, credentials: { accessKeyId: string; secretAccessKey: string }) => ({
  endpoint,
  credentials: { accessKeyId: credentials.accessKeyId, secretAccessKey: credentials.secretAccessKey },
  region: "us-east-1",
  maxAttempts: 1,
});

test("a function's credentials allow what its role grants, and nothing else", async () => {
  const cloud = await start();
  const { env } = response.parse(await (await fetch(`${cloud.apiUrl}/api/v1/things`)).json());
  const states = new SFNClient(
    clientOptions(env.AWS_ENDPOINT_URL, { accessKeyId: env.AWS_ACCESS_KEY_ID, secretAccessKey: env.AWS_SECRET_ACCESS_KEY }),
  );
  const before = Date.now();
  const started = await states.send(new StartExecutionCommand({ stateMachineArn: env.MACHINE_ARN, name: "by-sdk", input: "{}" }));
  expect(started.executionArn).toBe(`${env.MACHINE_ARN.replace(":stateMachine:", ":execution:")}:by-sdk`);
  expect(started.startDate?.getTime()).toBeGreaterThanOrEqual(before - 1000); // in whole seconds
  const stop = states.send(new StopExecutionCommand({ executionArn: started.executionArn }));
  await expect(stop).rejects.toMatchObject({ name: "AccessDeniedException" });
  await cloud.states.settled();
  expect(cloud.states.executions()).toMatchObject([{ name: "by-sdk", status: "SUCCEEDED" }]);
});

test("data, names and credentials survive a restart", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "data-"));
  const first = await start({ dataDir });
  const item = { pk: { S: "a" }, n: { N: "1" } };
  const before = new DynamoDBClient(clientOptions(first.awsUrl, first.operator));
  await before.send(new PutItemCommand({ TableName: first.tableName, Item: item }));
  await (await fetch(`${first.apiUrl}/api/v1/things`)).json();
  await stop(first);
  const second = await start({ dataDir });
  expect({ ...second.operator, environment: {} }).toEqual({ ...first.operator, environment: {} });
  const after = new DynamoDBClient(clientOptions(second.awsUrl, second.operator));
  expect((await after.send(new GetItemCommand({ TableName: second.tableName, Key: { pk: { S: "a" } } }))).Item).toEqual(item);
  const things = readdirSync(join(dataDir, "logs")).find((name) => name.includes("things")) ?? "";
  expect(readFileSync(join(dataDir, "logs", things), "utf8")).toContain("seen undefined");
});

test("a second start on the same data fails, names the process, and does not affect the first", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "data-"));
  const first = await start({ dataDir });
  await expect(start({ dataDir })).rejects.toThrow(`is used by process ${process.pid}`);
  expect((await fetch(`${first.apiUrl}/api/v1/things`)).status).toBe(200);
});

test("a lock whose process is another one by now does not count", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "data-"));
  writeFileSync(join(dataDir, "lock"), String(process.ppid));
  await expect(start({ dataDir })).rejects.toThrow(`is used by process ${process.ppid}`);
  writeFileSync(join(dataDir, "lock"), `${process.ppid} 1`);
  await start({ dataDir });
});
