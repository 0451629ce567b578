// Lists while records are created and deleted.
import { expect, test } from "vitest";
import * as z from "zod";
import { account } from "./harness/account.ts";
import type { ApiResponse } from "./harness/client.ts";
import { seedServer } from "./harness/seed.ts";
import { setQuota } from "../shared/operations/accounts/operator.ts";
import { removeSshKey, getSshKey } from "../shared/records/ssh-keys.ts";
import { startChange } from "../shared/data/change.ts";

const Listed = z.looseObject({ id: z.string() });
const idsOf = (response: ApiResponse) => response.as(z.array(Listed)).map(({ id }) => id);

test("twenty records created at once are all listed once and counted", async () => {
  const other = await account();
  const { api } = await other.token();
  const body = await other.serverBody();
  await setQuota(other.id, "server", 100);
  const events = (await api.get("/events")).meta?.total ?? 0;
  const ids = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      api.post("/servers", { ...body, name: `together-${i}` }).then((response) => response.as(Listed).id),
    ),
  );
  const page = await api.get("/servers?per_page=100");
  expect(page.meta?.total).toBe(20);
  expect(idsOf(page).toSorted()).toEqual(ids.toSorted());
  expect((await api.get("/operations?per_page=100")).meta?.total).toBe(20);
  expect((await api.get("/events")).meta?.total).toBe(events + 20);
});

test("a deleted record leaves no gap in the list", async () => {
  const other = await account();
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.unshift((await other.sshKey()).id);
  const change = startChange({ id: other.id });
  removeSshKey(change, await getSshKey(other.id, ids[2] ?? ""));
  await change.commit();
  const [first, second] = [await other.api.get("/ssh-keys?per_page=2"), await other.api.get("/ssh-keys?per_page=2&page=2")];
  expect([...idsOf(first), ...idsOf(second)]).toEqual(ids.filter((_, i) => i !== 2));
  expect(second.meta).toMatchObject({ total: 4, next_cursor: null });
});

test("a cursor continues at its place when newer records are added", async () => {
  const other = await account();
  const old = [];
  for (let i = 0; i < 4; i++) old.unshift((await seedServer(other.id)).id);
  const first = await other.api.get("/servers?per_page=2");
  await seedServer(other.id);
  const next = await other.api.get(`/servers?per_page=2&cursor=${first.meta?.next_cursor}`);
  expect([...idsOf(first), ...idsOf(next)]).toEqual(old);
  expect(next.meta?.total).toBe(5);
});
