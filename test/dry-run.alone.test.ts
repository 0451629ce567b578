// Dry runs: which routes have them, how they count, and what the parameter may be (in every state:
// dry-run-states.alone.all.test.ts).
import { beforeAll, expect, test } from "vitest";
import { account, unusedId } from "./harness/account.ts";
import { ownCloud } from "./harness/cloud.ts";
import { holdForGood } from "./harness/held-work.ts";
import { everyRoute } from "./harness/requests.ts";
import { seedServer } from "./harness/seed.ts";

beforeAll(async () => holdForGood(await ownCloud()));

/** What docs/api.md promises. */
const DRY = [
  "POST /instances",
  "POST /instances/:id/clone",
  "POST /instances/:id/actions",
  "PUT /instances/:id",
  "DELETE /instances/:id",
  "POST /backups/:id/restore",
  "POST /backups/:id/drill",
  "POST /instances/:id/deploys",
  "DELETE /backups/:id",
  "DELETE /servers/:id",
  "POST /servers/:id/actions",
  "PUT /instances/:id/backup-policy",
  "POST /bulk",
];

test("the routes with dry runs are those that docs/api.md names", () => {
  expect(
    everyRoute
      .filter(({ dryRun }) => dryRun)
      .map(({ title }) => title)
      .toSorted(),
  ).toEqual(DRY.toSorted());
});

test("a dry run counts as a request and not as a creation or deletion", async () => {
  const me = await account();
  const server = await seedServer(me.id);
  const { api } = await me.token();
  for (let i = 0; i < 25; i++) expect((await api.delete(`/servers/${server.id}?dry_run=true`)).status).toBe(200);
  const response = await api.get(`/servers/${server.id}`);
  expect(response.headers["x-ratelimit-remaining"]).toBe("74");
  expect((await api.delete(`/servers/${server.id}?dry_run=false`)).status).toBe(202);
});

test("a dry run takes no other value, and no second one", async () => {
  const me = await account();
  for (const query of ["dry_run=", "dry_run=1", "dry_run=TRUE", "dry_run=true&dry_run=false", "dry_run=true&dry_run=true"]) {
    const response = await me.api.delete(`/servers/${unusedId("server")}?${query}`);
    expect(response.error, query).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "dry_run" } });
  }
});
