// Requests built from the route table: a valid one for every route, and every way to get one of its fields wrong.
import * as z from "zod";
import type { IdKind } from "../../shared/domain/id-kinds.ts";
import { type Route, routes } from "../../shared/api/index.ts";
import { unusedId } from "./account.ts";
import { seededDeliveries } from "./seed.ts";

/** The routes of this deployment, with their titles for test names. */
export const everyRoute = routes.map((route) => ({ ...route, title: `${route.method} ${route.path}` }));
export const closedRoutes = everyRoute.filter(({ access }) => access !== "public");
export const openRoutes = everyRoute.filter(({ access }) => access === "public");
export const listRoutes = everyRoute.filter(({ list }) => list);
export const bodyRoutes = everyRoute.filter(({ body, unreadBytes }) => body !== undefined && unreadBytes === undefined);
export const idRoutes = everyRoute.filter(({ path }) => path.includes(":id"));

const KINDS: Record<string, IdKind> = {
  servers: "server",
  instances: "instance",
  backups: "backup",
  uploads: "upload",
  operations: "operation",
  tokens: "token",
  "ssh-keys": "ssh_key",
  webhooks: "webhook",
  users: "user",
  invitations: "invitation",
  sessions: "session",
  "second-factors": "second_factor",
  alerts: "alert",
  deploys: "deploy",
};

/** The kind of resource of a path's ID: the segment before it says so. */
export function idKindOf({ path }: Pick<Route, "path">): IdKind {
  const [, segment = ""] = /([a-z-]+)\/:id/.exec(path) ?? [];
  const kind = KINDS[segment];
  if (kind === undefined) throw new Error(`Which kind of id is in ${path}?`);
  return kind;
}

/** Returns an ID without the encoding of its characters. */
const plain = (id: string): string =>
  id.replaceAll(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

export const pathOf = (route: Pick<Route, "path">, id?: string): string =>
  route.path.includes(":id")
    ? route.path
        .replace(":id", id ?? unusedId(idKindOf(route)))
        .replace(":delivery_id", seededDeliveries.get(plain(id ?? "")) ?? unusedId("delivery"))
    : route.path.replace(":name", "acme").replace(":secret", "no-such-secret");

/** The path with that ID of a test's own whose kind it needs. */
export function pathAmong(route: Pick<Route, "path">, ids: Partial<Record<IdKind, string>>): string {
  if (!route.path.includes(":id")) return pathOf(route);
  const id = ids[idKindOf(route)];
  if (id === undefined) throw new Error(`${route.path} needs the ID of a ${idKindOf(route)}, which this test must seed`);
  return pathOf(route, id);
}

/** Without these, a request is rejected for what it lacks. */
const NEEDED_QUERIES: Readonly<Record<string, string>> = {
  "search.find": "q=shop",
  "overview.nights": "created_after=2026-11-20",
};

/** The same with the query that the route needs. */
export function wholePathOf(route: Pick<Route, "path" | "id">, id?: string): string {
  const query = NEEDED_QUERIES[route.id];
  return query === undefined ? pathOf(route, id) : `${pathOf(route, id)}?${query}`;
}

const Field = z.looseObject({
  type: z.string().optional(),
  examples: z.array(z.unknown()).optional(),
  enum: z.array(z.unknown()).optional(),
  /** A nullable schema is a choice of two. */
  get anyOf() {
    return z.array(Field).optional();
  },
  default: z.unknown().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minItems: z.number().optional(),
  pattern: z.string().optional(),
  format: z.string().optional(),
});
export type Field = z.infer<typeof Field>;

const Shape = z.looseObject({ properties: z.record(z.string(), Field).default({}), required: z.array(z.string()).default([]) });

/** The fields of a schema, as its JSON schema describes them to a client. */
export function fieldsOf(schema: z.ZodType | undefined): { fields: [string, Field][]; required: string[] } {
  if (schema === undefined) return { fields: [], required: [] };
  const { properties, required } = Shape.parse(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }));
  return { fields: Object.entries(properties), required };
}

/** A valid body: each field's own example, without optional fields that have none. */
export function bodyOf(route: Pick<Route, "body" | "id">): Record<string, unknown> | undefined {
  if (route.body === undefined) return undefined;
  const { fields, required } = fieldsOf(route.body);
  const body = Object.fromEntries(
    fields.flatMap(([name, { examples = [] }]) => (examples[0] === undefined ? [] : [[name, examples[0]]])),
  );
  const missing = required.filter((name) => !(name in body));
  if (missing.length > 0) throw new Error(`${route.id} lacks an example of ${missing.join(", ")}`);
  return body;
}

export interface Mistake {
  what: string;
  value: unknown;
}

const LONGER_THAN_ANY = 6_000;
const WRONG: Record<string, Mistake[]> = {
  string: [
    { what: "a number", value: 42 },
    { what: "a list", value: ["a"] },
    { what: "an object", value: { a: 1 } },
  ],
  boolean: [
    { what: "text", value: "true" },
    { what: "a number", value: 1 },
  ],
  integer: [
    { what: "text", value: "7" },
    { what: "a fraction", value: 1.5 },
    { what: "a number too big to be exact", value: 1e300 },
  ],
  object: [
    { what: "text", value: "daily" },
    { what: "a list", value: [7] },
  ],
  array: [
    { what: "text", value: "servers:read" },
    { what: "an object", value: {} },
  ],
};

/** Every invalid value of a field, from its schema. */
export function mistakesIn(field: Field): Mistake[] {
  const [value, ...others] = field.anyOf?.filter(({ type }) => type !== "null") ?? [];
  const nullable = field.anyOf?.some(({ type }) => type === "null") === true;
  if (others.length > 0)
    return [
      { what: "a number", value: 1 },
      { what: "a truth value", value: true },
    ]; // no choice has those
  return nullable && value !== undefined ? mistakesIn(value).filter(({ value: wrong }) => wrong !== null) : mistakesInOne(field);
}

function mistakesInOne({ type = "", enum: values, minLength = 0, maxLength, minimum, maximum, minItems = 0 }: Field): Mistake[] {
  const wrong = WRONG[type];
  if (wrong === undefined) throw new Error(`No mistakes are known for a field of type ${type}`);
  return [
    { what: "null", value: null },
    ...wrong,
    ...(type === "string" ? [{ what: "text that is far too long", value: "a".repeat(LONGER_THAN_ANY) }] : []),
    ...(maxLength !== undefined ? [{ what: "one character too many", value: "a".repeat(maxLength + 1) }] : []),
    ...(minLength > 0 ? [{ what: "one character too few", value: "a".repeat(minLength - 1) }] : []),
    ...(values !== undefined ? [{ what: "none of its values", value: "no-such-value" }] : []),
    ...(minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? [{ what: "one too low", value: minimum - 1 }] : []),
    ...(maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? [{ what: "one too high", value: maximum + 1 }] : []),
    ...(minItems > 0 ? [{ what: "an empty list", value: [] }] : []),
  ];
}
