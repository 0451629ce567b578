// Finds the method of the template's REST API for a request.
import type { ApiResource, Method, RestApi } from "../template/api.ts";
import { GatewayError } from "./errors.ts";
import { decoded, type Exchange } from "./request.ts";

interface Route {
  resource: ApiResource;
  segments: string[];
  rank: string;
}

const rankSegment = (segment: string): string => (segment.endsWith("+}") ? "2" : segment.startsWith("{") ? "1" : "0");

/** Static before {parameter} before {greedy+}, segment by segment. Resources without methods have no route. */
export function listRoutes({ resources }: RestApi): Route[] {
  return resources
    .filter(({ methods }) => methods.length > 0)
    .map((resource) => {
      const segments = resource.path.split("/").slice(1).filter(Boolean);
      return { resource, segments, rank: segments.map(rankSegment).join("") };
    })
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1));
}

/** Percent-encoded as in the request: REST APIs leave it to the function to decode them. */
function matchParameters({ segments }: Route, pathSegments: string[]): Record<string, string> | undefined {
  const parameters: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const value = pathSegments[index];
    if (!value) return undefined;
    if (segment.endsWith("+}")) return { ...parameters, [segment.slice(1, -2)]: pathSegments.slice(index).join("/") };
    if (segment.startsWith("{")) parameters[segment.slice(1, -1)] = value;
    else if (segment !== decoded(value)) return undefined;
  }
  return pathSegments.length === segments.length ? parameters : undefined;
}

/** The method for a request; records its resource and parameters in the exchange. */
export function route(routes: readonly Route[], exchange: Exchange): Method {
  const pathSegments = exchange.path.split("/").slice(1);
  for (const segment of pathSegments) decoded(segment); // throws if the text cannot be decoded
  // A trailing slash means the same resource, as on AWS.
  if (pathSegments.at(-1) === "") pathSegments.pop();
  for (const each of routes) {
    const parameters = matchParameters(each, pathSegments);
    if (!parameters) continue;
    const { methods } = each.resource;
    const method =
      methods.find(({ httpMethod }) => httpMethod === exchange.method) ?? methods.find(({ httpMethod }) => httpMethod === "ANY");
    if (!method) break;
    Object.assign(exchange, { resource: each.resource, parameters });
    return method;
  }
  throw new GatewayError("MISSING_AUTHENTICATION_TOKEN");
}
