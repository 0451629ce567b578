// What API Gateway sends to functions: the event of a request, and its context.
import { ACCOUNT } from "../template/resolve.ts";
import type { RestApi } from "../template/api.ts";
import { headerIn, type Exchange, type Many } from "./request.ts";

export function buildContext({ id, stage }: RestApi, exchange: Exchange): Record<string, unknown> {
  const { requestId, method, path, resource, sourceIp, startedAt, headers } = exchange;
  const host = headerIn(headers, "host") ?? "";
  return {
    accountId: ACCOUNT,
    apiId: id,
    stage,
    deploymentId: "local",
    requestId,
    extendedRequestId: requestId,
    httpMethod: method,
    path,
    resourceId: resource?.path ?? null,
    resourcePath: resource?.path ?? null,
    protocol: "HTTP/1.1",
    domainName: host,
    domainPrefix: host.split(".")[0],
    requestTime: new Date(startedAt).toUTCString(),
    requestTimeEpoch: startedAt,
    identity: {
      sourceIp,
      userAgent: headerIn(headers, "user-agent") ?? null,
      accountId: null,
      caller: null,
      user: null,
      userArn: null,
    },
  };
}

const lastOfEach = (many: Many) => Object.fromEntries([...many].map(([name, values]) => [name, values.at(-1) ?? ""]));

export function buildEvent(api: RestApi, exchange: Exchange): Record<string, unknown> {
  const { query, headers, parameters } = exchange;
  return {
    resource: exchange.resource?.path,
    path: exchange.path,
    httpMethod: exchange.method,
    headers: lastOfEach(headers),
    multiValueHeaders: Object.fromEntries(headers),
    queryStringParameters: query.size === 0 ? null : lastOfEach(query),
    multiValueQueryStringParameters: query.size === 0 ? null : Object.fromEntries(query),
    pathParameters: Object.keys(parameters).length === 0 ? null : parameters,
    stageVariables: null,
    requestContext: buildContext(api, exchange),
  };
}
