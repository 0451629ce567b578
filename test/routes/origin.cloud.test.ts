// The API is behind CloudFront: it rejects requests that bypass CloudFront, and a client's address is what CloudFront says.
import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { toGatewayResource, routes } from "../../shared/api/index.ts";
import { BASE_PATH } from "../../shared/api/base-path.ts";
import * as tokens from "../../shared/api/tokens.ts";
import { CLIENT_ADDRESS_HEADER, ORIGIN_KEY_HEADER } from "../../shared/runtime/origin.ts";
import { account, type TestAccount } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
import { processCloud } from "../harness/cloud.ts";
import { bodyOf } from "../harness/requests.ts";

const cloud = await processCloud();
const [api] = cloud.template.apis;

let me: TestAccount;
let session: Client;
let key = "";
beforeAll(async () => {
  me = await account();
  session = await me.session();
  const [, SecretId] =
    /secretsmanager:(arn:.+?):SecretString/.exec(cloud.template.front?.requestHeaders[ORIGIN_KEY_HEADER] ?? "") ?? [];
  const { AWS_ENDPOINT_URL: endpoint = "", AWS_REGION: region = "" } = cloud.operator.environment;
  const secrets = new SecretsManagerClient({ endpoint, region, credentials: cloud.operator });
  key = (await secrets.send(new GetSecretValueCommand({ SecretId }))).SecretString ?? "";
  if (!/^\w{64}$/.test(key)) throw new Error("The key is not what was generated");
});

/** The gateway's event for a function, for a request with these headers. */
const eventOf = (method: string, resource: string, headers: Record<string, string>, body?: unknown) => ({
  type: "REQUEST",
  methodArn: "arn:aws:execute-api:us-east-1:000000000000:api/test/GET/api/v1/servers",
  resource,
  path: resource,
  httpMethod: method,
  headers: { "content-type": "application/json", ...headers },
  body: body === undefined ? null : JSON.stringify(body),
  requestContext: { requestId: "gateway-1", identity: { sourceIp: "198.51.100.9" } },
});

function functionOf(method: string, resource: string): string {
  const methods = api?.resources.find(({ path }) => path === resource)?.methods ?? [];
  const found = [method, "ANY"].flatMap((each) => methods.filter(({ httpMethod }) => httpMethod === each))[0];
  return found?.functionArn ?? "";
}

const elsewhere: [string, () => Record<string, string>][] = [
  ["without a key", () => ({})],
  ["with a wrong key", () => ({ [ORIGIN_KEY_HEADER]: `${key.slice(0, -1)}!`, [CLIENT_ADDRESS_HEADER]: "192.0.2.1" })],
  [
    "with a key that is part of the right one",
    () => ({ [ORIGIN_KEY_HEADER]: key.slice(0, 32), [CLIENT_ADDRESS_HEADER]: "192.0.2.1" }),
  ],
  ["with an empty key", () => ({ [ORIGIN_KEY_HEADER]: "", [CLIENT_ADDRESS_HEADER]: "192.0.2.1" })],
];
const through = () => ({ "X-Origin-Key": key, [CLIENT_ADDRESS_HEADER]: "2001:db8::7" });

const LambdaResponse = z.object({ statusCode: z.number(), body: z.string() });
const Decision = z.object({
  policyDocument: z.object({ Statement: z.array(z.object({ Effect: z.string() })) }),
  context: z.record(z.string(), z.string()),
});

describe.each(elsewhere)("a request %s", (_, headers) => {
  it.each(routes.filter(({ access }) => access === "public"))(
    "a request that bypasses CloudFront is rejected by $id",
    async (route) => {
      const resource = toGatewayResource(route.path);
      const event = eventOf(route.method, resource, headers(), bodyOf(route));
      const response = LambdaResponse.parse(await cloud.invoke(functionOf(route.method, resource), event));
      expect(response.statusCode).toBe(403);
      expect(JSON.parse(response.body)).toMatchObject({ success: false, error: { code: "FORBIDDEN" } });
    },
  );

  it("a request that bypasses CloudFront cannot tell which paths exist", async () => {
    const resource = `${BASE_PATH}/{proxy+}`;
    const response = LambdaResponse.parse(await cloud.invoke(functionOf("ANY", resource), eventOf("GET", resource, headers())));
    expect(response.statusCode).toBe(403);
  });

  it("a request that bypasses CloudFront never passes the authorizer and leaves no trace on the credential", async () => {
    const { id, value } = await me.token();
    const event = eventOf("GET", `${BASE_PATH}/servers`, { ...headers(), authorization: `Bearer ${value}` });
    const { policyDocument } = Decision.parse(await cloud.invoke(api?.authorizers[0]?.functionArn ?? "", event));
    expect(policyDocument.Statement).toEqual([{ Effect: "Deny" }]);
    expect((await session.get(`/tokens/${id}`)).as(tokens.get().data).last_used_at).toBeNull();
  });
});

describe("through CloudFront", () => {
  it("a request through CloudFront is accepted, with the client address that CloudFront saw", async () => {
    const { id, value } = await me.token();
    const event = eventOf("GET", `${BASE_PATH}/servers`, { ...through(), authorization: `Bearer ${value}` });
    const { policyDocument, context } = Decision.parse(await cloud.invoke(api?.authorizers[0]?.functionArn ?? "", event));
    expect(policyDocument.Statement).toEqual([{ Effect: "Allow" }]);
    expect(context).toMatchObject({ ip_address: "2001:db8::7" });
    expect(JSON.parse(context["caller"] ?? "")).toMatchObject({ id, ip_address: "2001:db8::7" });
  });

  it("a client cannot set its own IP address", async () => {
    const { id, api: tokenApi } = await me.token();
    const headers = { "X-Client-Address": "192.0.2.1", "X-ORIGIN-KEY": "of my own", "X-Forwarded-For": "192.0.2.2" };
    await tokenApi.get("/servers", { headers, from: "127.0.7.7" });
    expect((await session.get(`/tokens/${id}`)).as(tokens.get().data).last_used_ip).toBe("127.0.7.7");
  });
});
