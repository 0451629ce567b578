// The bundled rest of the AWS SDK: it signs, uses the right endpoints, distinguishes errors and retries.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { bundleFiles } from "../../infra/bundle.ts";
import { scratch } from "./stubs.ts";

interface CannedResponse {
  status: number;
  body: Record<string, unknown>;
}
interface SentRequest {
  target: string | undefined;
  authorization: string | undefined;
  body: unknown;
}

let clients: typeof import("./fixture/clients.ts");
let responses: CannedResponse[] = [];
let requests: SentRequest[] = [];

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { "x-amz-target": target, authorization } = request.headers;
  requests.push({ target: target?.toString(), authorization, body: await json(request) });
  const { status, body } = responses.shift() ?? { status: 200, body: {} };
  response.writeHead(status, { "content-type": "application/x-amz-json-1.0" }).end(JSON.stringify(body));
}
const aws = createServer((request, response) => void respond(request, response));

beforeAll(async () => {
  const folder = scratch();
  await bundleFiles(folder, [["clients", "test/infra/fixture/clients.ts"]]);
  await new Promise<void>((listening) => aws.listen(0, "127.0.0.1", listening));
  const { port } = z.object({ port: z.number() }).parse(aws.address());
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_REGION: "eu-central-1",
    AWS_ACCESS_KEY_ID: "AKIDTEST",
    AWS_SECRET_ACCESS_KEY: "secret",
    AWS_SESSION_TOKEN: "session",
  });
  const bundled: typeof clients = await import(pathToFileURL(join(folder, "clients", "index.mjs")).href);
  clients = bundled;
});
afterAll(() => aws.close());
beforeEach(() => {
  responses = [];
  requests = [];
});

const failing = async (work: () => Promise<unknown>): Promise<unknown> =>
  work().then(
    () => undefined,
    (error: unknown) => error,
  );

it("the bundled clients sign requests with the credentials of the environment, for the service and region", async () => {
  responses = [{ status: 200, body: { Item: { pk: { S: "a" }, count: { N: "3" } } } }];
  expect(await clients.get()).toEqual({ pk: "a", count: 3 });
  expect(requests[0]).toMatchObject({
    target: "DynamoDB_20120810.GetItem",
    authorization: expect.stringMatching(/Credential=AKIDTEST\/\d+\/eu-central-1\/dynamodb\/aws4_request/),
    body: { TableName: "t", Key: { pk: { S: "a" } } },
  });
});

it("the bundled clients read secrets and start executions", async () => {
  responses = [
    { status: 200, body: { SecretString: "s3cret" } },
    { status: 200, body: { executionArn: "e", startDate: 1_790_000_000.5 } },
  ];
  expect(await clients.secret()).toBe("s3cret");
  expect(await clients.start()).toMatchObject({ executionArn: "e", startDate: new Date(1_790_000_000_500) });
  expect(requests.map(({ target }) => target)).toEqual(["secretsmanager.GetSecretValue", "AWSStepFunctions.StartExecution"]);
});

it("the bundled clients know the errors that our code names, with their fields", async () => {
  const Item = { pk: { S: "a" } };
  responses = [
    { status: 400, body: { __type: "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException", message: "no", Item } },
  ];
  const rejected = await failing(clients.put);
  expect(clients.isConditionFailed(rejected)).toBe(true);
  expect(rejected).toMatchObject({ name: "ConditionalCheckFailedException", message: "no", Item });
  responses = [{ status: 400, body: { __type: "ExecutionAlreadyExists", message: "twice" } }];
  expect(clients.isAlreadyStarted(await failing(clients.start))).toBe(true);
});

it("the bundled clients name unknown errors, and say whose fault they are", async () => {
  responses = [{ status: 400, body: { __type: "com.amazonaws.dynamodb.v20120810#TableInUseException", message: "busy" } }];
  expect(await failing(clients.put)).toMatchObject({ name: "TableInUseException", message: "busy", $fault: "client" });
  const broken = { status: 500, body: { __type: "com.amazonaws.dynamodb.v20120810#SomethingNew", message: "oh" } };
  responses = [broken, broken];
  expect(await failing(clients.put)).toMatchObject({ name: "SomethingNew", $fault: "server", message: "oh" });
});

it.each(["ThrottlingException", "RequestLimitExceeded", "LimitOfTomorrow"])(
  "the bundled clients retry after %s",
  async (name) => {
    responses = [
      {
        status: name === "LimitOfTomorrow" ? 503 : 400,
        body: { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: "slow down" },
      },
    ];
    await clients.put();
    expect(requests).toHaveLength(2);
  },
);

it("the bundled clients use AWS's own endpoints unless another is set", () => {
  expect(clients.addresses("eu-central-1")).toEqual([
    "https://dynamodb.eu-central-1.amazonaws.com/",
    "https://states.eu-central-1.amazonaws.com/",
    "https://secretsmanager.eu-central-1.amazonaws.com/",
  ]);
  expect(clients.bucketAddress("eu-central-1", "backups")).toBe("https://s3.eu-central-1.amazonaws.com/backups");
});
