// Requests without an endpoint: 405 with `Allow` if the path has other methods (but no GET, whose function does it), otherwise
// 404.
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { methodNotAllowed, notFound } from "../shared/api/errors.ts";
import { allowedAt } from "../shared/runtime/methods.ts";
import { bypassedCloudFront, clientAddress } from "../shared/runtime/origin.ts";
import { failure } from "../shared/runtime/reply.ts";
import { readRequestId } from "../shared/runtime/request-context.ts";

export function handler(event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> {
  const headers = { "X-Request-ID": readRequestId(event.headers, event.requestContext.requestId) };
  if (clientAddress(event.headers) === undefined) return Promise.resolve(failure(bypassedCloudFront(), headers));
  const Allow = allowedAt(event.resource);
  if (Allow === "") return Promise.resolve(failure(notFound("path"), headers));
  return Promise.resolve(failure(methodNotAllowed(Allow), { ...headers, Allow }));
}
