// The API description: valid, true to the schemas that the service uses, and complete about errors.
import { RE2JS } from "re2js";
import { expect, test } from "vitest";
import * as z from "zod";
import { ERRORS, type ErrorCode } from "../../shared/api/errors.ts";
import { ListMeta } from "../../shared/api/fields.ts";
import { toGatewayResource, type Route, routes } from "../../shared/api/index.ts";
import { BASE_PATH } from "../../shared/api/base-path.ts";
import { openapiDocument } from "../../shared/api/openapi/describe.ts";
import type { Operation, Response } from "../../shared/api/openapi/document.ts";

const document = openapiDocument("test");
const live = openapiDocument("live");

/** The target of a pointer such as `#/components/schemas/Server`. */
const at = (pointer: string): unknown =>
  pointer
    .slice(2)
    .split("/")
    .reduce<unknown>((inner, key) => Reflect.get(Object(inner), key.replaceAll("~1", "/")), document);

/** Every value of a key in the document. */
function under(key: string, value: unknown = document): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [...(name === key ? [inner] : []), ...under(key, inner)]);
}

function operationOf({ method, path }: Route): Operation {
  const operation = document.paths[toGatewayResource(path).slice(BASE_PATH.length)]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`${method} ${path} is not described`);
  return operation;
}

const Described = z.custom<Response>((value) => Object.hasOwn(Object(value), "content"));

function responsesOf(route: Route): Record<string, Response> {
  return Object.fromEntries(
    Object.entries(operationOf(route).responses)
      .filter(([status]) => status !== "304")
      .map(([status, response]) => [status, Described.parse("$ref" in response ? at(response.$ref) : response)]),
  );
}

const responseOf = (route: Route, status: number): Response => Described.parse(responsesOf(route)[status]);

const schemaOf = (path: string, method: string) =>
  document.paths[path]?.[method]?.requestBody?.content["application/json"].schema;

const ErrorMeta = z.strictObject({
  success: z.literal(false),
  error: z.strictObject({
    code: z.custom<ErrorCode>((code) => Object.hasOwn(ERRORS, String(code))),
    message: z.string().min(1),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
});

const failuresOf = (route: Route) =>
  Object.entries(responsesOf(route)).flatMap(([status, { content }]) =>
    Object.values(content["application/json"].examples ?? {}).map(({ value }) => ({
      status: Number(status),
      ...ErrorMeta.parse(value).error,
    })),
  );

test("the description is OpenAPI 3.1.1 and names the service's base URL", () => {
  expect(document.openapi).toBe("3.1.1");
  expect(document.servers.map(({ url }) => url)).toEqual(["/api/v1"]);
});

test("every reference has a target, and every component is used", () => {
  const references = under("$ref").map(String);
  for (const reference of references) expect(at(reference), `${reference} leads nowhere`).toBeDefined();
  for (const kind of ["schemas", "parameters", "headers", "responses"] as const)
    for (const name of Object.keys(document.components[kind])) expect(references).toContain(`#/components/${kind}/${name}`);
});

test("component names are valid in OpenAPI", () => {
  for (const kind of Object.values(document.components))
    for (const name of Object.keys(kind)) expect(name).toMatch(/^[A-Za-z0-9._-]+$/);
});

test("every operation has a unique ID and a tag with a description", () => {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(routes.length);
  const names = document.tags.map(({ name }) => name);
  expect(new Set(operations.flatMap(({ tags }) => tags))).toEqual(new Set(names));
});

test("only the test environment describes the sandbox", () => {
  expect(Object.keys(document.paths)).toContain("/sandbox/instances/{id}/data");
  expect(JSON.stringify(live.paths)).not.toContain("/sandbox/");
  expect(Object.keys(live.components.schemas)).not.toContain("SandboxData");
});

test("every error code has a meaning in the description", () => {
  for (const [code, { status }] of Object.entries(ERRORS))
    expect(document.info.description).toContain(`| ${status} | \`${code}\` |`);
});

test("numbers in a query are described as numbers with limits", () => {
  const parameters = document.paths["/servers"]?.["get"]?.parameters ?? [];
  expect(parameters).toContainEqual(
    expect.objectContaining({
      name: "per_page",
      in: "query",
      required: false,
      schema: { type: "integer", format: "int32", minimum: 1, maximum: 100, default: 20, examples: [20] },
    }),
  );
  expect(parameters).toContainEqual(
    expect.objectContaining({ name: "status", schema: { type: "string", enum: ["active", "provisioning", "offline"] } }),
  );
});

const withBody = routes.filter(({ body }) => body !== undefined);
const unenveloped = routes.filter((route) => route.unenveloped);
const lists = routes.filter(({ list }) => list);
const singleRoutes = routes.filter((route) => !route.unenveloped && !route.list);
const guarded = routes.filter(({ access, bodyPermission }) => Array.isArray(access) || bodyPermission !== undefined);
const sessionOnly = routes.filter(({ access }) => access === "session");
const works = routes.filter(({ path, starts, id }) => path.includes(":") && starts.length > 0 && id !== "instances.clone");
/** An archive that has arrived, the one app of a user, and a deploy, of which the newest are kept, count against no quota. */
const UNCOUNTED: readonly string[] = ["uploads.complete", "secondFactors.confirmTotp", "deploys.create"];
const makers = routes.filter(({ id, status, resource }) => status === 201 && resource !== "backups" && !UNCOUNTED.includes(id));

const exampleOf = (route: Route) => responseOf(route, route.status).content["application/json"].example;

test.each(routes)("$id has a description of at least one sentence", (route) => {
  expect(operationOf(route).description).toMatch(/\w.*\.$/s);
});

test.each(routes)("the description of $id has its conditional headers and their responses", (route) => {
  const { parameters, responses } = operationOf(route);
  const takes = (name: string) => parameters.some((each) => "$ref" in each && each.$ref.endsWith(`/${name}`));
  // Nobody else changes one's own sessions and second factors, and neither has a version.
  const isOwn = route.path.startsWith("/auth/") || route.path.endsWith("/second-factors");
  expect(takes("IfMatch")).toBe(
    (route.method === "DELETE" && !isOwn) || (route.method === "PUT" && route.unversioned !== undefined),
  );
  expect(failuresOf(route).some(({ code }) => code === "PRECONDITION_FAILED")).toBe(takes("IfMatch"));
  expect("304" in responses).toBe(takes("IfNoneMatch"));
  expect(takes("IfNoneMatch")).toBe(route.method === "GET" && route.unversioned !== undefined);
});

test("the description forbids the same combinations in a body as the service", () => {
  expect(schemaOf("/backups/{id}/restore", "post")?.not?.anyOf).toEqual([
    {
      properties: { restore_database: { const: false }, restore_filestore: { const: false } },
      required: ["restore_database", "restore_filestore"],
    },
    {
      properties: { restore_database: { const: false }, neutralize: { const: true } },
      required: ["restore_database", "neutralize"],
    },
  ]);
  expect(schemaOf("/instances/{id}/clone", "post")).toHaveProperty("not.required", ["restore_database", "restore_filestore"]);
  expect(schemaOf("/instances/{id}", "put")).toMatchObject({ minProperties: 1 });
  expect(schemaOf("/settings", "put")).toMatchObject({ minProperties: 1 });
  expect(schemaOf("/tokens", "post")).toHaveProperty("properties.permissions.uniqueItems", true);
  expect(schemaOf("/instances", "post")).toHaveProperty("properties.database_name.not.enum", [
    "postgres",
    "template0",
    "template1",
  ]);
});

test("the description requires a body exactly where an empty object is invalid", () => {
  for (const route of withBody)
    expect(operationOf(route).requestBody?.required, route.id).toBe(route.body?.safeParse({}).success === false);
});

test("every pattern is valid in Go's regular expressions and means the same there", () => {
  const patterns = [...new Set(under("pattern").map(String))];
  expect(patterns.length).toBeGreaterThan(5);
  const texts = [
    "",
    "a",
    "Shop",
    " Shop ",
    "\u200d",
    "a\u200cb",
    "a\u2028b",
    "a\u202eb",
    "a\nb",
    "\u{1f467}",
    "\u{e0041}",
    "a@b.de",
    "a.b",
    "x.example.com",
    "19.0",
    "srv_",
    "\u0085",
    "2027-01-31T00:00:00Z",
    "\ue000a",
    "\u00ad",
  ];
  for (const pattern of patterns) {
    expect(pattern).not.toMatch(/\(\?[=!<]|\\p|\\u/);
    const go = RE2JS.compile(pattern);
    for (const text of texts)
      expect(go.matcher(text).find(), `${pattern} ${JSON.stringify(text)}`).toBe(new RegExp(pattern, "u").test(text));
  }
});

test.each(routes)("the description of $id has a body exactly if it takes one", (route) => {
  expect(operationOf(route).requestBody !== undefined).toBe(route.body !== undefined);
});

test.each(withBody)("the example body of $id satisfies its schema", (route) => {
  const example = operationOf(route).requestBody?.content["application/json"].example;
  expect(route.body?.safeParse(example)).toMatchObject({ success: true });
});

test.each(singleRoutes)(
  "the example response of $id is one that the service can send, with no field that it would drop",
  (route) => {
    const { data } = z.strictObject({ success: z.literal(true), data: z.unknown() }).parse(exampleOf(route));
    expect(route.data.parse(data)).toEqual(data);
  },
);

test.each(lists)("the example response of $id is a page of a list", (route) => {
  const page = z.strictObject({ success: z.literal(true), data: route.data, meta: ListMeta });
  expect(page.parse(exampleOf(route))).toEqual(exampleOf(route));
});

test.each(unenveloped)("the example response of $id is not wrapped in data", (route) => {
  expect(route.data.parse(exampleOf(route))).toEqual(exampleOf(route));
});

test.each(routes)("the description of $id has every path parameter", (route) => {
  const names = operationOf(route).parameters.flatMap((each) => ("in" in each && each.in === "path" ? [each.name] : []));
  expect(names).toEqual([...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name));
});

test.each(routes)("every error of $id is under its code's status", (route) => {
  for (const { code, status } of failuresOf(route)) expect(ERRORS[code].status).toBe(status);
});

/** Public endpoints that prove who somebody is. */
const PROVING: readonly string[] = [
  "auth.login",
  "auth.secondFactor",
  "auth.passkeyLogin",
  "auth.ssoFinish",
  "auth.acceptInvitation",
  "auth.confirmPasswordReset",
];

/** What they are about has no ID in the path, and may not be there. */
const FINDING: readonly string[] = ["sso.get", "sso.delete", "auth.ssoStart"];

test.each(routes)("the errors of $id are those of its kind", (route) => {
  const codes = failuresOf(route).map(({ code }) => code);
  const hasBody = route.body !== undefined;
  const isRead = route.unreadBytes === undefined;
  const expected: [ErrorCode, boolean][] = [
    ["MALFORMED_REQUEST", route.method !== "GET" && isRead],
    ["PAYLOAD_TOO_LARGE", hasBody],
    ["UNSUPPORTED_MEDIA_TYPE", hasBody && isRead],
    ["VALIDATION_ERROR", true],
    ["NOT_FOUND", (route.path.includes(":") && route.access !== "public") || FINDING.includes(route.id)],
    ["IDEMPOTENCY_KEY_REUSED", route.idempotent],
    ["IDEMPOTENCY_IN_PROGRESS", route.idempotent],
    ["UNAUTHORIZED", route.access !== "public" || PROVING.includes(route.id)],
    ["RATE_LIMIT_EXCEEDED", true],
    ["INTERNAL_ERROR", true],
    ["SERVICE_UNAVAILABLE", true],
  ];
  for (const [code, documented] of expected) expect(codes.includes(code), `${code} is told`).toBe(documented);
});

const errorsOf = (route: Route) => failuresOf(route).flatMap(({ code, message }) => (code === "FORBIDDEN" ? [message] : []));

test.each(guarded)("the description of $id names the missing permission", (route) => {
  const { access, bodyPermission, fieldPermission } = route;
  const permissions = [
    ...(Array.isArray(access) ? access : []),
    ...Object.values(bodyPermission?.permissions ?? {}),
    ...(fieldPermission === undefined ? [] : [fieldPermission.permission]),
  ];
  // Some settings are an owner's.
  const roles = route.id === "settings.update" ? ["This action needs the role owner"] : [];
  const missing = permissions.map((name) => `Token does not have permission: ${name}`);
  expect(new Set(errorsOf(route))).toEqual(new Set([...missing, ...roles]));
});

test.each(sessionOnly)("the description of $id says that it needs a dashboard session", (route) => {
  const roles = errorsOf(route).filter((message) => !message.startsWith("This action needs the role owner"));
  expect(roles).toEqual(["This endpoint needs a dashboard session"]);
  expect(errorsOf(route).length > 1).toBe(route.role !== undefined || route.id === "users.update");
});

test.each(works)("the description of $id has the errors for another operation and for a status that forbids it", (route) => {
  expect(failuresOf(route).map(({ code }) => code)).toEqual(expect.arrayContaining(["OPERATION_IN_PROGRESS", "INVALID_STATE"]));
});

test.each(makers)("the description of $id has the error for a quota", (route) => {
  expect(failuresOf(route).map(({ code }) => code)).toContain("QUOTA_EXCEEDED");
});

test.each(routes)("the response headers of $id have descriptions", (route) => {
  const headers = Object.keys(responseOf(route, route.status).headers);
  expect(headers).toContain("X-Request-ID");
  expect(headers.includes("ETag")).toBe(route.unversioned !== undefined);
  expect(headers.includes("Location")).toBe(route.status !== 200 && route.access !== "public");
  expect(headers.includes("Idempotent-Replayed")).toBe(route.storesResponse);
  expect(headers.includes("X-RateLimit-Remaining")).toBe(route.access !== "public");
  for (const status of [429, 503]) expect(Object.keys(responseOf(route, status).headers)).toContain("Retry-After");
});
