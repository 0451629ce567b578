// What an endpoint's function returns: the data in its public shape, with the request's headers, its location and its version.
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import * as z from "zod";
import type { Endpoint } from "../api/endpoint.ts";
import type { ListMeta } from "../api/fields.ts";
import { BASE_PATH } from "../api/base-path.ts";
import { buildEtag, matchesWeakly, tagsIn, versionedFields, buildWeakEtag } from "../domain/etag.ts";
import { ID_PREFIXES } from "../domain/id-kinds.ts";
import { success, unenveloped } from "./reply.ts";
import { authorizedIn, headerLines, requestId } from "./request-context.ts";
import type { createShaper } from "./shape.ts";

export type Shape = ReturnType<typeof createShaper>;

// Built once: building a schema costs more than all parsing of a request.
const Page = z.object({ items: z.unknown(), meta: z.custom<ListMeta>() });
const Identified = z.object({ id: z.string() });

export function buildResponse(
  endpoint: Endpoint,
  { shape, tagOf }: { shape: Shape; tagOf: Tagger },
  reply: unknown,
  event: APIGatewayProxyEvent,
): APIGatewayProxyResult {
  const headers = buildHeaders(endpoint, event);
  if (endpoint.unenveloped) {
    // The only response that caches may keep, and then revalidate.
    const tagged = { ...headers, "cache-control": "no-cache", Vary: "Accept-Encoding", ETag: buildWeakEtag(reply) };
    return notModifiedIfKnown(event, unenveloped(endpoint.status, reply, tagged));
  }
  if (endpoint.list) {
    const { items, meta } = Page.parse(reply);
    return success(endpoint.status, shape(items), meta, headers);
  }
  const location = locationHeader(buildLocation(endpoint, reply));
  const data = shape(reply);
  return notModifiedIfKnown(event, success(endpoint.status, data, undefined, { ...headers, ...location, ...tagOf(data) }));
}

type Tagger = (data: unknown) => { ETag?: string };

/** The ETag of an endpoint's responses; none if they have no version. */
export function createEtagger({ data: { shape }, unversioned }: Endpoint & { data: { shape?: object } }): Tagger {
  if (unversioned === undefined) return () => ({});
  const fields = shape && versionedFields(shape, unversioned);
  return (data) => (typeof data === "object" && data !== null ? { ETag: buildEtag(data, fields) } : {});
}

/** 304 for a client that already has this version. */
function notModifiedIfKnown(event: APIGatewayProxyEvent, response: APIGatewayProxyResult): APIGatewayProxyResult {
  const ifNoneMatch = event.httpMethod === "PUT" ? undefined : headerLines(event, "if-none-match");
  const etag = response.headers?.["ETag"];
  if (ifNoneMatch === undefined || etag === undefined || !matchesWeakly(tagsIn(ifNoneMatch), String(etag))) return response;
  return { ...response, statusCode: 304, body: "" };
}

/** The location of each kind of resource, by the prefix of its ID. */
const COLLECTIONS: Record<string, string> = {
  [ID_PREFIXES.server]: "servers",
  [ID_PREFIXES.instance]: "instances",
  [ID_PREFIXES.backup]: "backups",
  [ID_PREFIXES.upload]: "backups/uploads",
  [ID_PREFIXES.operation]: "operations",
  [ID_PREFIXES.token]: "tokens",
  [ID_PREFIXES.second_factor]: "auth/second-factors",
  [ID_PREFIXES.ssh_key]: "ssh-keys",
  [ID_PREFIXES.invitation]: "users/invitations",
  [ID_PREFIXES.webhook]: "webhooks",
  [ID_PREFIXES.deploy]: "deploys",
};

export const locationHeader = (location: string | undefined): Record<string, string> =>
  location === undefined ? {} : { Location: location };

/** 201 returns the resource, 202 the operation: the response's `id` names either. Nobody in public is told what follows. */
export function buildLocation({ status, access }: Endpoint, data: unknown): string | undefined {
  if (status === 200 || access === "public") return undefined;
  const { id } = Identified.parse(data);
  return `${BASE_PATH}/${COLLECTIONS[id.split("_", 1)[0] ?? ""]}/${id}`;
}

export function buildHeaders(endpoint: Endpoint, event: APIGatewayProxyEvent): Record<string, string | number> {
  const context = endpoint.access === "public" ? undefined : authorizedIn(event);
  if (context === undefined) return { "X-Request-ID": requestId(event) };
  const { limit, remaining, reset } = context.limits;
  return {
    "X-Request-ID": context.request_id,
    "X-RateLimit-Limit": limit,
    "X-RateLimit-Remaining": remaining,
    "X-RateLimit-Reset": reset,
  };
}
