// POST /servers/:id/actions: what waits for what, and a machine that is silent meanwhile.
import { beforeAll, describe, expect, test } from "vitest";
import { DryRun } from "../../shared/api/dry-run.ts";
import { Operation } from "../../shared/api/operations.ts";
import { Server } from "../../shared/api/servers.ts";
import { keys } from "../../shared/data/keys.ts";
import { updateOne } from "../../shared/data/table.ts";
import { newId } from "../../shared/domain/ids.ts";
import { FAILED_PROBES_MAX } from "../../shared/domain/limits.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { recordProbe } from "../../shared/records/machines.ts";
import { getServer } from "../../shared/records/servers.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedServer } from "../harness/seed.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account({ seeded: true });
  for (const kind of ["server", "instance"] as const) await setQuota(me.id, kind, 100);
});

const act = async (id: string, action: string) => (await me.token()).api.post(`/servers/${id}/actions`, { action });
const readOperation = async (id: string) => (await me.api.get(`/operations/${id}`)).as(Operation);

describe("a server that is rebooted or updated", () => {
  test("waits for what runs on its instances", async () => {
    const { id } = await me.server();
    const instance = await me.instance({ server_id: id });
    const key = keys.record("instance", me.id, instance.id);
    await updateOne(key, { set: { operation_id: newId("operation") } }, {});
    const planned = (await me.api.post(`/servers/${id}/actions?dry_run=true`, { action: "reboot" })).as(DryRun);
    expect(planned.warning_reasons).toMatchObject([{ code: "server_work_waits" }]);
    const operation = (await act(id, "reboot")).as(Operation);
    await expect.poll(async () => (await readOperation(operation.id)).step_code, { timeout: 60_000 }).toBe("awaitQuiet");
    await updateOne(key, { set: { operation_id: null } }, {});
    await me.until(operation.id);
  });

  test("does not become offline because its machine is silent", async () => {
    const { id } = await seedServer(me.id, { operation_id: newId("operation") });
    for (let probe = 0; probe <= FAILED_PROBES_MAX; probe++) await recordProbe(await getServer(me.id, id), { responded: false });
    expect((await me.api.get(`/servers/${id}`)).as(Server).status).toBe("active");
  });
});
