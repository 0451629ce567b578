// The authorizer: who a request's credential belongs to, and whether its limits let it through.
//
// A gateway's templates cannot compute. So an invalid credential gets a Deny whose context carries the request's ID (the
// gateway's 401), and a credential over its limit is passed to the handler, which responds with 429.
import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from "aws-lambda";
import * as fields from "../shared/api/fields.ts";
import { routeTable } from "../shared/api/route-table.ts";
import {
  type AuthorizationResult,
  authorizeSession,
  authorizeToken,
  type RequestFacts,
} from "../shared/operations/credentials/admission.ts";
import { isDryRun } from "../shared/domain/dry-run.ts";
import { isTokenValue } from "../shared/domain/token-value.ts";
import { env } from "../shared/platform/env.ts";
import { verifySession } from "../shared/runtime/jwt.ts";
import { log } from "../shared/platform/log.ts";
import { clientAddress } from "../shared/runtime/origin.ts";
import { header, type Limits, readRequestId } from "../shared/runtime/request-context.ts";

const routesByMethod = new Map(routeTable.map((route) => [`${route.method} ${route.resource}`, route]));

export async function handler(event: APIGatewayRequestAuthorizerEvent): Promise<APIGatewayAuthorizerResult> {
  const requestId = readRequestId(event.headers, event.requestContext.requestId);
  const at = Date.now();
  const ipAddress = clientAddress(event.headers);
  if (ipAddress === undefined) return policy("anonymous", "Deny", { request_id: requestId });
  const counted = rateOf(event);
  // A method that the path does not support is passed on without a caller to get its 405, and counts nothing.
  if (counted === undefined) return policy("anonymous", "Allow", { request_id: requestId, ip_address: ipAddress });
  const admission = await authenticate(header(event.headers, "authorization"), {
    ...counted,
    ipAddress,
    at,
    requestId,
  }).catch((error: unknown) => {
    log.error("authorizer failed", { request_id: requestId, error: error instanceof Error ? error : undefined });
    throw error;
  });
  if (admission.kind === "rejected") return policy("anonymous", "Deny", { request_id: requestId, ip_address: ipAddress });
  const { caller, state, retryAfterMs } = admission;
  const limits: Limits = {
    limit: state.limit,
    remaining: state.remaining,
    reset: Math.ceil((at + state.resetMs) / 1000),
    ...(retryAfterMs !== undefined && {
      refused: { scope: state.scope, limit: state.limit, retry_after: Math.ceil(retryAfterMs / 1000) },
    }),
  };
  return policy(caller.id, "Allow", {
    request_id: requestId,
    ip_address: ipAddress,
    caller: JSON.stringify(caller),
    limits: JSON.stringify(limits),
  });
}

/** Counted by the gateway's own resource, never by the path as the client wrote it. */
function rateOf(event: APIGatewayRequestAuthorizerEvent): Pick<RequestFacts, "rate" | "waitSeconds"> | undefined {
  const { httpMethod, resource, queryStringParameters, multiValueQueryStringParameters } = event;
  const route = routesByMethod.get(`${httpMethod === "HEAD" ? "GET" : httpMethod} ${resource}`);
  if (route === undefined) return undefined;
  // The handler rejects anything but one number of seconds, and `wait` beside other parameters; that takes no slot.
  const all = multiValueQueryStringParameters ?? {};
  const values = route.waits === undefined ? [] : (all[route.waits] ?? []);
  const isOne = values.length === 1 && (route.waits === "follow" || Object.keys(all).length === 1);
  const wait = isOne ? fields.waitSeconds.safeParse(values[0]).data : undefined;
  return { rate: isDryRun(route, queryStringParameters) ? "all" : route.rate, waitSeconds: wait ?? 0 };
}

async function authenticate(authorization: string | undefined, facts: RequestFacts): Promise<AuthorizationResult> {
  const value = /^Bearer +(\S+)$/i.exec(authorization?.trim() ?? "")?.[1];
  if (value === undefined) return { kind: "rejected" };
  if (value.startsWith("svc_"))
    return isTokenValue(env().ENVIRONMENT, value) ? authorizeToken(value, facts) : { kind: "rejected" };
  const session = await verifySession(value);
  return session === undefined ? { kind: "rejected" } : authorizeSession(session, facts);
}

/**
 * The policy covers every resource: nothing is cached, so it is for this one request, whose own ARN may be longer than the 512
 * characters that a policy takes.
 */
const policy = (principalId: string, Effect: "Allow" | "Deny", context: Record<string, string>): APIGatewayAuthorizerResult => ({
  principalId,
  policyDocument: { Version: "2012-10-17", Statement: [{ Action: "execute-api:Invoke", Effect, Resource: "*" }] },
  context,
});
