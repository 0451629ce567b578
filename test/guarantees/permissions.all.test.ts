// Every permission, none, and every role on every endpoint; and no endpoint without a declared access.
import { expect, inject } from "vitest";
import { type ApiError, permissionRequired, roleRequired } from "../../shared/api/errors.ts";
import { ALL_PERMISSIONS, type Permission } from "../../shared/api/permissions.ts";
import { hasRole, listPermissions, type RequiredRole, type Role } from "../../shared/api/roles.ts";
import { toGatewayResource, routes } from "../../shared/api/index.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { stackName } from "../../infra/settings.ts";
import { readTemplate } from "../../infra/local/template/template.ts";
import { account } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
import { bodyOf, pathOf } from "../harness/requests.ts";
import { prove } from "./prove.ts";
import { kinds } from "./world.ts";

interface Place {
  label: string;
  kind: (typeof kinds)[number];
  grant: string;
  role: (typeof AS)[number] | undefined;
}

const GRANTS = ["none", ...ALL_PERMISSIONS, "all but those needed", "exactly those needed"];
/** Those whose permissions follow from the role alone; single permissions are tokens' below. */
const AS = ["owner", "admin", "operator", "viewer"] as const;
const places: Place[] = kinds.flatMap((kind) => [
  ...GRANTS.map((grant) => ({ label: `${kind.label} with ${grant}`, kind, grant, role: undefined })),
  ...AS.map((role) => ({ label: `${kind.label} as ${role}`, kind, grant: "", role })),
]);
const byLabel = new Map(places.map((place) => [place.label, place]));

/** The permission follows from the action and the resources, which no table of the route names: that of the example. */
const OF_EXAMPLE: Readonly<Record<string, readonly Permission[]>> = { "bulk.run": ["instances:actions"] };

/**
 * Likewise the role: only its own name may a user without one change, and the example is another user's; the example of settings
 * has those of owners.
 */
const ROLE_OF_EXAMPLE: Readonly<Record<string, RequiredRole>> = { "users.update": "admin", "settings.update": "owner" };

/** What an endpoint needs, with the fields of its example. */
function neededBy({ route, fixed }: Place["kind"]): readonly Permission[] {
  const bodyPermission = route.bodyPermission?.permissions[String(Object.values(fixed)[0])];
  return [
    ...(Array.isArray(route.access) ? (route.access as readonly Permission[]) : []),
    ...(bodyPermission === undefined ? [] : [bodyPermission]),
    ...(OF_EXAMPLE[route.id] ?? []),
    ...(route.fieldPermission === undefined ? [] : [route.fieldPermission.permission]),
  ];
}

/** Why a session with a role is rejected: first by the role that the endpoint or the body needs, then by the permissions. */
function whyNot({ route }: Place["kind"], role: Role, needed: readonly Permission[]): ApiError | undefined {
  if (route.role !== undefined && !hasRole(role, route.role)) return roleRequired(route.role);
  const ofBody = ROLE_OF_EXAMPLE[route.id];
  if (ofBody !== undefined && !hasRole(role, ofBody)) return roleRequired(ofBody);
  const missing = needed.find((each) => !listPermissions({ role, permissions: [] }).includes(each));
  return missing === undefined ? undefined : permissionRequired(missing);
}

const forbidden = (message: string) => ({ success: false, error: { code: "FORBIDDEN", message } });
const SESSION_ONLY = "This endpoint needs a dashboard session";

prove("permissions", async () => {
  const me = await account();
  await setQuota(me.id, "user", 1_000);
  const clients = new Map<string, Promise<Client>>();
  let uses = 0;
  /** A credential is used for some requests, and then another one of the same permissions. */
  const clientWith = (permissions: readonly Permission[]): Promise<Client> => {
    if (++uses % 500 === 0) clients.clear();
    const key = `${permissions.join()} ${Math.floor(uses / 100)}`;
    const client = clients.get(key) ?? me.token(permissions).then(({ api }) => api);
    clients.set(key, client);
    return client;
  };

  /** Requests to /auth end sessions or change passwords, and each user has limits: those have a user for one trial. */
  const users = new Map<string, { api: Promise<Client>; uses: number }>();
  const sessionAs = (role: Role, path: string): Promise<Client> => {
    const cached = users.get(role);
    if (cached !== undefined && cached.uses++ < 15 && !path.startsWith("/auth")) return cached.api;
    const api = me.anotherUser({ role }).then((user) => me.session(user));
    if (!path.startsWith("/auth")) users.set(role, { api, uses: 1 });
    return api;
  };

  return {
    points: places.map(({ label }) => label),
    trial: async ({ point }) => {
      const { kind, grant, role } = byLabel.get(point) ?? expect.fail(`There is no point ${point}`);
      const { route, fixed } = kind;
      const needed = neededBy(kind);
      const permissions = ALL_PERMISSIONS.filter((each) =>
        grant === "exactly those needed"
          ? needed.includes(each)
          : grant === "all but those needed"
            ? !needed.includes(each)
            : each === grant,
      );
      const api = await (role === undefined ? clientWith(permissions) : sessionAs(role, route.path));
      const example = bodyOf(route);
      const body = example === undefined ? undefined : { ...example, ...fixed };
      const before = await me.trace();
      const response = await api.send(route.method, pathOf(route), body);
      const missing = needed.find((each) => !permissions.includes(each));
      const error = role && whyNot(kind, role, needed);
      if (error !== undefined) expect(response.body).toEqual(forbidden(error.message));
      else if (role === undefined && route.access === "session") expect(response.body).toEqual(forbidden(SESSION_ONLY));
      else if (role === undefined && ROLE_OF_EXAMPLE[route.id] !== undefined)
        expect(response.body).toEqual(forbidden(roleRequired(ROLE_OF_EXAMPLE[route.id] ?? "owner").message));
      else if (role === undefined && missing !== undefined)
        expect(response.body).toEqual(forbidden(`Token does not have permission: ${missing}`));
      else if (response.status === 403) expect.fail(`${point} is rejected: ${response.text}`);
      if (response.status === 403) expect(await me.trace(), "a rejected request has changed something").toBe(before);
    },
    finish: () => expectDeclared(),
  };
});

/**
 * Every method of the deployed API is a declared route behind the authorizer, or a declared public one; all else gets 404 or 405.
 */
function expectDeclared(): void {
  const { apis } = readTemplate(inject("outDir"), stackName("test"));
  const [api] = apis;
  if (api === undefined) throw new Error("The template has no API");
  const declared = new Map(routes.map((route) => [`${route.method} ${toGatewayResource(route.path)}`, route]));
  for (const { path, methods } of api.resources)
    for (const { httpMethod, authorizer } of methods) {
      if (httpMethod === "ANY" || httpMethod === "HEAD" || httpMethod === "OPTIONS") continue;
      const route = declared.get(`${httpMethod} ${path}`);
      expect(route, `${httpMethod} ${path} is declared`).toBeDefined();
      expect(authorizer !== undefined, `${httpMethod} ${path} is behind the authorizer`).toBe(route?.access !== "public");
    }
}
