// New kinds of operations leave the lists before an older version serves, and come back whole, as do new kinds of backups.
import { expect, test } from "vitest";
import * as z from "zod";
import { indexAccount } from "../../shared/migrations/indexing.ts";
import { setNewKindsAside } from "../../shared/migrations/before-rollback.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import { seedInstance } from "../harness/seed.ts";

const Begun = z.looseObject({ id: z.string() });
const listsOf = async ({ api }: TestAccount) =>
  Promise.all(
    ["", "type=bulk.run&", "status=succeeded&"].map(async (filter) => {
      const { body } = await api.get(`/operations?${filter}per_page=100`);
      return z.object({ data: z.array(Begun), meta: z.looseObject({ total: z.number() }) }).parse(body);
    }),
  );
const index = async (accountId: string): Promise<void> => {
  for await (const _ of indexAccount(accountId));
};

test("bulk actions leave every list and come back as they were, whoever else runs the same", async () => {
  const me = await account();
  const instance = await seedInstance(me.id, { name: "Shop" });
  const body = { action: "set_labels", select: { ids: [instance.id] }, parameters: { add: { bulk: "yes" } } };
  const operation = (await me.api.post("/bulk", body)).as(Begun);
  await me.until(operation.id);
  const before = await listsOf(me);
  expect(before.map(({ meta }) => meta.total)).toEqual([1, 1, 1]);

  expect(await Promise.all([setNewKindsAside(me.id), setNewKindsAside(me.id)])).toEqual([[], []]);
  expect((await listsOf(me)).map(({ data, meta }) => [data.length, meta.total])).toEqual(Array.from({ length: 3 }, () => [0, 0]));
  expect((await me.api.get(`/operations/${operation.id}`)).status).toBe(404);

  await Promise.all([index(me.id), index(me.id)]);
  expect(await listsOf(me)).toEqual(before);
});

test("a deploy leaves the lists of its instance and its backup, too, and that backup has a kind that is known", async () => {
  const me = await account({ seeded: true });
  const { id } = await me.instance();
  const { id: deploy, operation_id } = (await me.api.post(`/instances/${id}/deploys`, { rehearse: false })).as(Begun);
  await me.until(String(operation_id));
  const { backup_id } = (await me.api.get(`/deploys/${deploy}`)).as(z.looseObject({ backup_id: z.string() }));
  const readState = async () => ({
    kind: (await me.api.get(`/backups/${backup_id}`)).as(z.looseObject({ kind: z.string() })).kind,
    operations: await Promise.all(
      [id, backup_id].map(async (each) => {
        const listed = (await me.api.get(`/operations?resource_id=${each}`)).as(z.array(z.looseObject({ type: z.string() })));
        return listed.filter(({ type }) => type === "instance.deploy").length;
      }),
    ),
  });
  expect(await readState()).toEqual({ kind: "pre_deploy", operations: [1, 1] });
  expect(await setNewKindsAside(me.id)).toEqual([]);
  expect(await readState()).toEqual({ kind: "pre_restore", operations: [0, 0] });
  await index(me.id);
  expect(await readState()).toEqual({ kind: "pre_deploy", operations: [1, 1] });
});

test("one in progress stays, and is named", async () => {
  const me = await account();
  const heldInstance = await seedInstance(me.id, { operation_id: unusedId("operation") });
  const { id } = (await me.api.post("/bulk", { action: "stop", select: { ids: [heldInstance.id] } })).as(Begun);
  expect(await setNewKindsAside(me.id)).toEqual([id]);
  expect((await me.api.get(`/operations/${id}`)).status).toBe(200);
  await me.api.post(`/operations/${id}/actions`, { action: "cancel" });
  await me.until(id, "failed");
  expect(await setNewKindsAside(me.id)).toEqual([]);
});
