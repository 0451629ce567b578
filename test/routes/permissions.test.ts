// Permissions: without the one that a route needs, the error names it exactly, before the service looks anything up.
import { beforeAll, describe, expect, test } from "vitest";
import { ALL_PERMISSIONS, type Permission } from "../../shared/api/permissions.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { bodyOf, closedRoutes, pathOf } from "../harness/requests.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

const forbidden = (message: string) => ({ success: false, error: { code: "FORBIDDEN", message } });
const allBut = (permission: Permission) => ALL_PERMISSIONS.filter((each) => each !== permission);

describe.each(closedRoutes.filter(({ access }) => Array.isArray(access)))("$title", (route) => {
  const needed = Array.isArray(route.access) ? route.access : [];

  test.each(needed)("the endpoint needs the permission %s, and its error names it", async (permission: Permission) => {
    const { api } = await me.token(allBut(permission));
    const before = await me.trace();
    const response = await api.send(route.method, pathOf(route), bodyOf(route));
    expect(response.status).toBe(403);
    expect(response.body).toEqual(forbidden(`Token does not have permission: ${permission}`));
    expect(await me.trace()).toBe(before);
  });

  test("the endpoint needs no other permission", async () => {
    const { api } = await me.token(needed);
    expect((await api.send(route.method, pathOf(route), bodyOf(route))).status).not.toBe(403);
  });
});

describe.each(closedRoutes.filter(({ access }) => access === "session"))("$title", (route) => {
  test("a session-only endpoint rejects a token with every permission, and says so", async () => {
    const { api } = await me.token();
    const response = await api.send(route.method, pathOf(route), bodyOf(route));
    expect(response.status).toBe(403);
    expect(response.body).toEqual(forbidden("This endpoint needs a dashboard session"));
  });
});

describe.each(closedRoutes.filter(({ bodyPermission }) => bodyPermission !== undefined))("$title", (route) => {
  const rows = Object.entries(route.bodyPermission?.permissions ?? {});
  const field = route.bodyPermission?.field ?? "";

  test.each(rows)("a body with %s needs %s, checked before the resource is looked up", async (value, permission) => {
    const lacking = await me.token(allBut(permission));
    const rejected = await lacking.api.send(route.method, pathOf(route), { [field]: value });
    expect(rejected.status).toBe(403);
    expect(rejected.body).toEqual(forbidden(`Token does not have permission: ${permission}`));
    const having = await me.token([permission]);
    expect((await having.api.send(route.method, pathOf(route), { [field]: value })).status).toBe(404);
  });
});

test.each(closedRoutes.filter(({ access, bodyPermission }) => access === "credential" && bodyPermission === undefined))(
  "$title accepts every valid credential",
  async (route) => {
    const { api } = await me.token(["settings:read"]);
    expect((await api.send(route.method, pathOf(route), bodyOf(route))).status).not.toBe(403);
  },
);

/** CONTRACT.md section 3, verbatim, with the endpoint of a backup that section 6 adds. */
const CONTRACT: Record<string, string> = {
  "GET /servers": "servers:read",
  "GET /servers/:id": "servers:read",
  "GET /ssh-keys": "servers:read",
  "GET /ssh-keys/:id": "servers:read",
  "POST /servers": "servers:write",
  "PUT /servers/:id": "servers:write",
  "DELETE /servers/:id": "servers:write",
  "POST /ssh-keys": "servers:write",
  "DELETE /ssh-keys/:id": "servers:write",
  "GET /instances": "instances:read",
  "GET /instances/:id": "instances:read",
  "POST /instances": "instances:write",
  "PUT /instances/:id": "instances:write",
  "DELETE /instances/:id": "instances:write",
  "POST /instances/:id/clone": "instances:write,backups:restore",
  "POST /instances/:id/actions": "credential",
  "GET /instances/:id/backups": "backups:read",
  "GET /instances/:id/backup-policy": "backups:read",
  "PUT /instances/:id/backup-policy": "backups:write",
  "DELETE /instances/:id/backup-policy": "backups:write",
  "GET /backups": "backups:read",
  "GET /backups/:id": "backups:read",
  "POST /instances/:id/backups": "backups:write",
  "PUT /backups/:id": "backups:write",
  "DELETE /backups/:id": "backups:write",
  "POST /backups/:id/restore": "backups:restore",
  "POST /backups/:id/drill": "backups:restore",
  "GET /backups/:id/download": "backups:restore",
  "GET /settings": "settings:read",
  "GET /events": "settings:read",
  "PUT /settings": "settings:write",
  "GET /catalog": "credential",
  "GET /auth/me": "credential",
  "GET /operations/:id": "credential",
  "GET /operations": "servers:read,instances:read,backups:read",
  "GET /tokens": "session",
  "GET /tokens/:id": "session",
  "POST /tokens": "session",
  "DELETE /tokens/:id": "session",
  "POST /auth/logout": "session",
  "PUT /auth/password": "session",
  "GET /sandbox/instances/:id/data": "instances:read",
  "PUT /sandbox/instances/:id/data": "instances:write",
};

test("the routes' permissions match the contract's table exactly", () => {
  expect(Object.fromEntries(closedRoutes.map(({ title, access }) => [title, String(access)]))).toEqual(CONTRACT);
});
