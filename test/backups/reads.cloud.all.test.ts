// The sandbox gets each archive from the store once, for a restore, a clone, a drill and an import, as a machine does.
import { beforeAll, expect, test } from "vitest";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import { account, type TestAccount, uniqueDomain } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";

let cloud: TestCloud;
let me: TestAccount;
let instance: Instance;
beforeAll(async () => {
  cloud = await processCloud();
  me = await account({ seeded: true });
  instance = await me.instance();
});

/** How often an archive was asked for, in the calls that name it. */
const gets = (id: string): number =>
  cloud.aws.calls.list().filter(({ action, resources }) => action === "GetObject" && resources.some((each) => each.includes(id)))
    .length;

test.each([
  ["a restore", async (id: string) => (await me.api.post(`/backups/${id}/restore`, { backup_first: false })).as(Operation).id],
  [
    "a clone",
    async (id: string) => {
      const body = { name: "Copy", domain: uniqueDomain(), backup_id: id };
      return (await me.api.post(`/instances/${instance.id}/clone`, body)).as(Instance).operation_id ?? "";
    },
  ],
  ["a drill", async (id: string) => (await me.api.post(`/backups/${id}/drill`, {})).as(Operation).id],
])("%s reads its archive once", async (_, begin) => {
  const { id } = await me.backup(instance.id);
  cloud.aws.calls.clear();
  const { state } = await me.until(await begin(id));
  expect([state, gets(id)]).toEqual(["succeeded", 1]);
});
