// The REST API as the one document that API Gateway imports: OpenAPI 3.0, the latest that it reads, with extensions of its own.
import { STATUS_CODES } from "node:http";
import { Aws } from "aws-cdk-lib";
import { ResponseType } from "aws-cdk-lib/aws-apigateway";
import type { IRole } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { type ErrorCode, ERRORS } from "../shared/api/errors.ts";

const RETRY_AFTER_SECONDS = 5;

/** All methods that a path does not name. */
export const ANY = "ANY";

/** A method of a path, and the function that responds to it. */
export interface Method {
  method: string;
  path: string;
  handler: IFunction;
  /** The status of a success. The gateway wants one for each method, but passes on whatever the function returns. */
  status: number;
  /** Whether requests reach the function without passing the authorizer. */
  open: boolean;
}

interface Body {
  title: string;
  description: string;
  methods: readonly Method[];
  authorizer: IFunction;
  /** Invokes the functions and the authorizer. */
  role: IRole;
}

export function apiBody({ title, description, methods, authorizer, role }: Body) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const each of methods) {
    const key = each.method === ANY ? "x-amazon-apigateway-any-method" : each.method.toLowerCase();
    paths[each.path] = { ...paths[each.path], [key]: operation(each, role) };
  }
  return {
    openapi: "3.0.1",
    info: { title, description, version: "v1" },
    paths,
    components: { securitySchemes: { authorizer: securityScheme(authorizer, role) } },
    "x-amazon-apigateway-gateway-responses": gatewayResponses(),
  };
}

function operation({ path, handler, status, open }: Method, role: IRole) {
  const parameters = [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  return {
    ...(parameters.length > 0 && { parameters }),
    responses: { [status]: { description: STATUS_CODES[status] } },
    ...(!open && { security: [{ authorizer: [] }] }),
    "x-amazon-apigateway-integration": {
      type: "aws_proxy",
      httpMethod: "POST",
      uri: buildInvocation(handler),
      credentials: role.roleArn,
    },
  };
}

const securityScheme = (authorizer: IFunction, role: IRole) => ({
  type: "apiKey",
  // Both are required: the gateway expects this name if the authorizer reads the whole request and not one header.
  name: "Unused",
  in: "header",
  "x-amazon-apigateway-authtype": "custom",
  "x-amazon-apigateway-authorizer": {
    type: "request",
    authorizerUri: buildInvocation(authorizer),
    authorizerCredentials: role.roleArn,
    // No cache, so that a revoked token is invalid for the next request; no identity source, so that requests without the header
    // reach it, too.
    authorizerResultTtlInSeconds: 0,
  },
});

const buildInvocation = ({ functionArn }: IFunction): string =>
  `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}:lambda:path/2015-03-31/functions/${functionArn}/invocations`;

interface GatewayError {
  code: ErrorCode;
  /** The error's message, if it differs from the code's own. */
  message?: string;
  status?: number | "kept";
  /** The variable that has the request's ID, if not `context.requestId`. */
  requestId?: string;
  retryAfter?: number;
}

const UNAVAILABLE: GatewayError = { code: "SERVICE_UNAVAILABLE", retryAfter: RETRY_AFTER_SECONDS };

const GATEWAY_ERRORS: readonly (readonly [ResponseType, GatewayError])[] = [
  // The authorizer's Deny. Its context has only flat strings, which templates can read: the client's own request ID is returned.
  [ResponseType.ACCESS_DENIED, { code: "UNAUTHORIZED", requestId: "context.authorizer.request_id" }],
  [ResponseType.UNAUTHORIZED, { code: "UNAUTHORIZED" }],
  [ResponseType.AUTHORIZER_FAILURE, UNAVAILABLE],
  [ResponseType.AUTHORIZER_CONFIGURATION_ERROR, UNAVAILABLE],
  [ResponseType.INTEGRATION_FAILURE, UNAVAILABLE],
  [ResponseType.INTEGRATION_TIMEOUT, UNAVAILABLE],
  // This is the limit of the whole deployment; the authorizer counts each credential's own limit.
  [ResponseType.THROTTLED, { code: "SERVICE_UNAVAILABLE", retryAfter: 1 }],
  [ResponseType.QUOTA_EXCEEDED, { code: "RATE_LIMIT_EXCEEDED", retryAfter: 60 }],
  [ResponseType.REQUEST_TOO_LARGE, { code: "PAYLOAD_TOO_LARGE" }],
  [ResponseType.MISSING_AUTHENTICATION_TOKEN, { code: "NOT_FOUND" }],
  [ResponseType.RESOURCE_NOT_FOUND, { code: "NOT_FOUND" }],
  [ResponseType.UNSUPPORTED_MEDIA_TYPE, { code: "UNSUPPORTED_MEDIA_TYPE" }],
  [ResponseType.BAD_REQUEST_BODY, { code: "MALFORMED_REQUEST" }],
  [ResponseType.BAD_REQUEST_PARAMETERS, { code: "MALFORMED_REQUEST", message: "The path or the query is malformed" }],
  [ResponseType.DEFAULT_4XX, { code: "MALFORMED_REQUEST", message: "The request is malformed", status: "kept" }],
  // The gateway returns its own 500 for a function that AWS throttles, so its own errors are worth a retry.
  [ResponseType.DEFAULT_5XX, UNAVAILABLE],
];

/** The gateway's own errors, in our envelope. */
function gatewayResponses() {
  const responses = GATEWAY_ERRORS.map(([{ responseType }, { code, message, status, requestId, retryAfter }]) => {
    const headers = {
      "Content-Type": "'application/json'",
      "Cache-Control": "'no-store'",
      "X-Content-Type-Options": "'nosniff'",
      "X-Request-ID": requestId ?? "context.requestId",
      ...(code === "UNAUTHORIZED" && { "WWW-Authenticate": "'Bearer'" }),
      ...(retryAfter !== undefined && { "Retry-After": `'${retryAfter}'` }),
    };
    const envelope = { success: false, error: { code, message: message ?? ERRORS[code].message } };
    const response = {
      ...(status !== "kept" && { statusCode: String(status ?? ERRORS[code].status) }),
      responseParameters: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [`gatewayresponse.header.${name}`, value]),
      ),
      responseTemplates: { "application/json": JSON.stringify(envelope) },
    };
    return [responseType, response];
  });
  return Object.fromEntries(responses);
}
