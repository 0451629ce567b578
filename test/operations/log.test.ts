// GET /operations/:id/log
import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { Operation } from "../../shared/api/operations.ts";
import { keys } from "../../shared/data/keys.ts";
import { putOne, queryAll } from "../../shared/data/table.ts";
import { findWorkLog, storeWorkLog } from "../../shared/records/work-logs.ts";
import { newId } from "../../shared/domain/ids.ts";
import { account, type TestAccount, unusedId, uniqueDomain } from "../harness/account.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account({ seeded: true });
});

const Log = z.object({ text: z.string(), next: z.string(), ended: z.boolean() });
const read = async (id: string, query = "", of = me.api) => (await of.get(`/operations/${id}/log?${query}`)).as(Log);

/** An operation that has ended, on an instance of its own. */
async function restarted(domain = uniqueDomain()): Promise<Operation> {
  const { id } = await me.instance({ domain });
  const { id: operation } = (await me.api.post(`/instances/${id}/actions`, { action: "restart" })).as(Operation);
  return (await me.api.get(`/operations/${operation}?wait=20`)).as(Operation);
}

test("an operation that has ended keeps what its jobs have logged, and it can be read from a place on", async () => {
  const { id, status } = await restarted();
  expect(status).toBe("succeeded");
  const { text, next, ended } = await read(id);
  expect(text).toMatch(/^# restart_erp\nSimulated: restart erp\nDone\n/);
  expect([next, ended]).toEqual([String(text.split("\n").length - 1), true]);
  expect(await read(id, "after=1")).toEqual({ text: text.slice("# restart_erp\n".length), next, ended: true });
  expect(await read(id, `after=${next}&follow=20`)).toEqual({ text: "", next, ended: true });
});

test("whoever may read the operation may read its log, and nobody else", async () => {
  const { id } = await restarted();
  const [reader, other] = [await me.token(["instances:read"]), await me.token(["servers:read"])];
  expect((await read(id, "", reader.api)).ended).toBe(true);
  expect((await other.api.get(`/operations/${id}/log`)).status).toBe(403);
  expect((await (await account()).api.get(`/operations/${id}/log`)).status).toBe(404);
  expect((await me.api.get(`/operations/${unusedId("operation")}/log`)).status).toBe(404);
  for (const query of ["after=-1", "after=x", "follow=21"])
    expect((await me.api.get(`/operations/${id}/log?${query}`)).status, query).toBe(422);
});

test("a log of a megabyte that nothing compresses is kept whole", async () => {
  const place = { account_id: me.id, id: newId("operation") };
  let state = 1;
  const text = Array.from({ length: 1_000_000 }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return String.fromCharCode(33 + ((state >>> 16) % 94));
  }).join("");
  await storeWorkLog(place, text);
  expect((await findWorkLog(place)) === text).toBe(true);
  expect(await findWorkLog({ ...place, id: newId("operation") })).toBe("");
  // Whoever stores it may be killed between two of its parts.
  const halved = { ...place, id: newId("operation") };
  await storeWorkLog(halved, text);
  await putOne({ pk: keys.workLog(halved.account_id, halved.id), sk: "0" }, { d: Buffer.from([1]), ttl: 1 });
  expect(await findWorkLog(halved)).toBe("");
  for (const { ttl } of await queryAll(keys.workLog(place.account_id, place.id)))
    expect(Math.abs(Number(ttl) - (Date.now() / 1000 + 90 * 86_400))).toBeLessThan(600);
});
