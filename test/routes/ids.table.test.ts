// IDs in paths: an invalid one does no harm. Other accounts' IDs are attacked in `test/guarantees`.
import { beforeAll, describe, expect, test } from "vitest";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import { newId } from "../../shared/domain/ids.ts";
import { getServer } from "../../shared/records/servers.ts";
import { seedAlert, seedBackup, seedDeploy, seedFactor, seedInstance, seedInvitation } from "../harness/seed.ts";
import { bodyOf, idKindOf, idRoutes, pathOf } from "../harness/requests.ts";
import { routeClients } from "../harness/route-clients.ts";
import { some } from "../harness/some.ts";
import { Operation } from "../../shared/api/operations.ts";
import { Upload } from "../../shared/api/uploads.ts";
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
    upload: (await other.api.post("/backups/uploads", { size_bytes: 1 })).as(Upload).id,
    ssh_key: (await other.sshKey()).id,
    token: other.tokenId,
    webhook: await other.webhook(),
    deploy: await seedDeploy(instance),
    alert: await seedAlert(await getServer(other.id, instance.server_id)),
    operation: server.operation_id,
    user: (await other.anotherUser()).id,
    invitation: await seedInvitation(other),
    session: newId("session"),
    second_factor: await seedFactor(other.user.id),
  });
  // Nothing of it changes by itself during the tests.
  await other.until(server.operation_id).catch(() => undefined);
});

const clientFor = routeClients(() => me);

describe.each(idRoutes.map((route, place) => ({ ...route, place })))("$title", (route) => {
  const kind = idKindOf(route);

  test("an invalid ID gets 404, however it is written", async () => {
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
    for (const each of some(odd, 9, route.place)) {
      const api = await clientFor(route, 1);
      const response = await api.send(route.method, pathOf(route, each), bodyOf(route));
      expect(response.status, `${each}: ${response.text}`).toBe(404);
      expect(response.error?.code, each).toBe("NOT_FOUND");
    }
  });
});

const gets = idRoutes.filter(({ method }) => method === "GET");
describe.each(some(gets, 3))("$title", (route) => {
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

test("an operation is visible only to its own account", async () => {
  const path = `/operations/${foreign["operation"]}`;
  expect((await other.api.get(path)).as(Operation).id).toBe(foreign["operation"]);
  expect((await me.api.get(path)).status).toBe(404);
});
