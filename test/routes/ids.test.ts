// Accounts see only their own resources: another account's ID gets exactly the response of an unused ID, and an invalid ID does no harm.
import { beforeAll, describe, expect, test } from "vitest";
import { getToken } from "../../shared/data/credentials.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import { seedBackup, seedInstance } from "../harness/seed.ts";
import { bodyOf, idKindOf, idRoutes, pathOf } from "../harness/requests.ts";
import { Operation } from "../../shared/api/operations.ts";
import { Server } from "../../shared/api/servers.ts";

let me: TestAccount;
const foreign: Record<string, string> = {};
let other: TestAccount;

beforeAll(async () => {
  me = await account();
  other = await account();
  const instance = await seedInstance(other.id);
  const backup = await seedBackup(instance);
  const server = (await other.api.post("/servers", await other.serverBody())).as(Server);
  Object.assign(foreign, {
    server: instance.server_id,
    instance: instance.id,
    backup: backup.id,
    ssh_key: (await other.sshKey()).id,
    token: other.tokenId,
    operation: server.operation_id,
  });
  // Nothing of it changes by itself during the tests.
  await other.until(server.operation_id).catch(() => undefined);
});

const clientFor = async (access: unknown) => (access === "session" ? me.session(await me.anotherUser()) : (await me.token()).api);

describe.each(idRoutes)("$title", (route) => {
  const kind = idKindOf(route);

  test("another account's ID gets exactly the response of an unused one, and nothing changes", async () => {
    const api = await clientFor(route.access);
    const ask = (id: string) => api.send(route.method, pathOf(route, id), bodyOf(route), { headers: { "x-request-id": "same" } });
    const before = await other.trace();
    const unused = await ask(unusedId(kind));
    const theirs = await ask(foreign[kind] ?? "");
    expect(unused.status).toBe(404);
    expect(theirs.status).toBe(404);
    expect(theirs.text).toBe(unused.text);
    const headerNames = ({ headers }: typeof theirs) => Object.keys(headers).toSorted();
    expect(headerNames(theirs)).toEqual(headerNames(unused));
    expect(await other.trace()).toBe(before);
    if (kind === "token") expect((await getToken(other.id, other.tokenId)).id).toBe(other.tokenId);
  });

  test("an invalid ID gets 404, however it is written", async () => {
    const api = await clientFor(route.access);
    const id = foreign[kind] ?? "";
    const odd = [
      "none",
      "null",
      "__proto__",
      "%00",
      "%E2%80%AE",
      "a%2Fb",
      "..%2F..%2Fetc",
      "%2e%2e",
      "ACC%23" + me.id,
      id.toUpperCase(),
      `${id}x`,
      ` ${id}`.replace(" ", "%20"),
      id.replace("_", "%5F") + "%00",
      unusedId(kind === "backup" ? "server" : "backup"),
      "a".repeat(512), // longer than a policy that named it could be
      "a".repeat(1_025),
      "a".repeat(1_400),
      "%F0%9F%92%A5",
    ];
    for (const each of odd) {
      const response = await api.send(route.method, pathOf(route, each), bodyOf(route));
      expect(response.status, `${each}: ${response.text}`).toBe(404);
      expect(response.error?.code, each).toBe("NOT_FOUND");
    }
  });
});

describe.each(idRoutes.filter(({ method }) => method === "GET"))("$title", (route) => {
  test("a percent-encoded ID is the same ID", async () => {
    const id = foreign[idKindOf(route)] ?? "";
    const encoded = id.replace("_", "%5F").replace(/^./, (first) => `%${first.charCodeAt(0).toString(16)}`);
    const api = route.access === "session" ? await other.session() : other.api;
    const [plain, odd] = [await api.get(pathOf(route, id)), await api.get(pathOf(route, encoded))];
    expect(odd.status).toBe(plain.status);
    // A download URL is signed anew each time.
    if (route.id !== "backups.download") expect(odd.body).toEqual(plain.body);
  });
});

describe("an ID in a body or a query", () => {
  const same = async (
    ask: (id: string) => Promise<{ status: number; text: string }>,
    kind: "server" | "ssh_key" | "backup" | "instance",
  ) => {
    const [unused, theirs] = [await ask(unusedId(kind)), await ask(foreign[kind] ?? "")];
    expect(theirs.text).toBe(unused.text);
    expect(theirs.status).toBe(unused.status);
    return theirs;
  };

  test("the SSH key of a new server must belong to the account", async () => {
    const body = await me.serverBody();
    const response = await same((ssh_key_id) => me.api.post("/servers", { ...body, ssh_key_id }), "ssh_key");
    expect(response).toMatchObject({ status: 422, error: { details: { field: "ssh_key_id" } } });
  });

  test("the server of a new instance must belong to the account", async () => {
    const body = await me.instanceBody({ server_id: unusedId("server") });
    const response = await same((server_id) => me.api.post("/instances", { ...body, server_id }), "server");
    expect(response).toMatchObject({ status: 422, error: { details: { field: "server_id" } } });
  });

  test("the backup and the server of a clone must belong to the account", async () => {
    const mine = await seedInstance(me.id);
    const backup = await seedBackup(mine);
    const path = `/instances/${mine.id}/clone`;
    const body = { name: "Copy", domain: "copy.example.com", backup_id: backup.id };
    const wrongBackup = await same((backup_id) => me.api.post(path, { ...body, backup_id }), "backup");
    expect(wrongBackup).toMatchObject({ status: 422, error: { details: { field: "backup_id" } } });
    const wrongServer = await same((server_id) => me.api.post(path, { ...body, server_id }), "server");
    expect(wrongServer).toMatchObject({ status: 422, error: { details: { field: "server_id" } } });
  });

  test.each([
    ["/instances?server_id=", "server"],
    ["/backups?instance_id=", "instance"],
    ["/operations?resource_id=", "server"],
  ] as const)("the filter %s finds nothing of another account", async (path, kind) => {
    const response = await same((id) => me.api.get(`${path}${id}`), kind);
    expect(response).toMatchObject({ status: 200, meta: { total: 0 } });
  });
});

test("an operation is visible only to its own account", async () => {
  const path = `/operations/${foreign["operation"]}`;
  expect((await other.api.get(path)).as(Operation).id).toBe(foreign["operation"]);
  expect((await me.api.get(path)).status).toBe(404);
});
