// Calls an endpoint's handler as a request would, inside the function of a bulk action: the same checks, the same effects and the
// same errors, but no authorizer, so that nothing counts against the credential's limits.
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import * as z from "zod";
import { BASE_PATH } from "../api/base-path.ts";
import type { Endpoint } from "../api/endpoint.ts";
import type { ErrorCode } from "../api/errors.ts";
import { openEnum } from "../data/stored.ts";
import type { Caller } from "../records/schemas/caller.ts";
import type { Limits } from "./request-context.ts";
import { MINUTE_MS } from "../domain/durations.ts";

type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** A request for one resource. */
export interface InProcessRequest {
  caller: Caller;
  requestId: string;
  /** The `:id` of the path. */
  id: string;
  body?: unknown;
  idempotencyKey?: string;
  ifMatch?: string;
}

const Failed = z.object({
  error: z.object({ code: openEnum<ErrorCode>(), message: z.string(), details: z.record(z.string(), z.unknown()).optional() }),
});
const Succeeded = z.object({ data: z.unknown() });

export type InProcessResponse = { data: unknown } | z.infer<typeof Failed>;

export async function callInProcess(handler: Handler, endpoint: Endpoint, request: InProcessRequest): Promise<InProcessResponse> {
  const { statusCode, body } = await handler(eventOf(endpoint, request), CONTEXT);
  const response: unknown = JSON.parse(body);
  return statusCode < 300 ? Succeeded.parse(response) : Failed.parse(response);
}

/** No limit has been reached, whatever they are. */
const UNLIMITED: Limits = { limit: 1, remaining: 1, reset: 0 };

function eventOf(
  { method, path }: Endpoint,
  { caller, requestId, id, body, idempotencyKey, ifMatch }: InProcessRequest,
): APIGatewayProxyEvent {
  const headers = {
    "content-type": "application/json",
    "x-request-id": requestId,
    ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
    ...(ifMatch !== undefined && { "if-match": ifMatch }),
  };
  const resource = `${BASE_PATH}${path.replace(":id", "{id}")}`;
  const ownPath = resource.replace("{id}", id);
  return {
    resource,
    path: ownPath,
    httpMethod: method,
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters: { id },
    stageVariables: null,
    isBase64Encoded: false,
    body: body === undefined ? null : JSON.stringify(body),
    requestContext: {
      authorizer: { request_id: requestId, caller: JSON.stringify(caller), limits: JSON.stringify(UNLIMITED), in_bulk: "true" },
      accountId: "",
      apiId: "",
      httpMethod: method,
      identity: NO_IDENTITY,
      path: ownPath,
      protocol: "",
      requestId,
      requestTimeEpoch: Date.now(),
      resourceId: "",
      resourcePath: resource,
      stage: "",
    },
  };
}

const NO_IDENTITY = {
  accessKey: null,
  accountId: null,
  apiKey: null,
  apiKeyId: null,
  caller: null,
  clientCert: null,
  cognitoAuthenticationProvider: null,
  cognitoAuthenticationType: null,
  cognitoIdentityId: null,
  cognitoIdentityPoolId: null,
  principalOrgId: null,
  sourceIp: "",
  user: null,
  userAgent: null,
  userArn: null,
};

/** Nothing in a handler reads the rest. */
const CONTEXT: Context = {
  callbackWaitsForEmptyEventLoop: false,
  functionName: "",
  functionVersion: "",
  invokedFunctionArn: "",
  memoryLimitInMB: "",
  awsRequestId: "",
  logGroupName: "",
  logStreamName: "",
  getRemainingTimeInMillis: () => MINUTE_MS, // longer than a handler takes: Middy ends it otherwise
  done: () => undefined,
  fail: () => undefined,
  succeed: () => undefined,
};
