// A new domain, stop, start and restart, and a backup of a stopped ERP.
import assert from "node:assert/strict";
import { type BackedUp, type Chain, DOMAIN } from "./context.ts";
import { fetchPage } from "./erp.ts";

export async function run(
  { machine, client, guarantee, succeeds, survives, instanceOf, siteOf, enter, backUp, act }: Chain,
  { shop, password }: BackedUp,
): Promise<void> {
  await guarantee(
    "a change of the domain that is killed midway ends with the new domain serving and the old one redirecting to it",
    async () => {
      const { data } = await client.instances.update({ params: { id: shop.id }, body: { domain: "new.example.com" } });
      await survives(data.operation_id, "moveDomain", 0.5);
      const moved = await enter(await instanceOf(shop.id), password);
      assert.equal(await moved.parameter("web.base.url"), "https://new.example.com");
      const old = await fetchPage(siteOf(DOMAIN), "/web/login?a=1");
      assert.equal(old.status, 307);
      assert.equal(old.headers.location, "https://new.example.com/web/login?a=1");
      await succeeds((await client.instances.update({ params: { id: shop.id }, body: { domain: DOMAIN } })).data.operation_id);
    },
  );

  await guarantee("stop, start and restart succeed although each is killed midway", async () => {
    await survives(await act(shop.id, "stop"), "stopErp", 0.05);
    assert.equal((await instanceOf(shop.id)).status, "stopped");
    assert.equal((await fetchPage(siteOf(DOMAIN), "/web/login")).status, 502);
    await survives(await act(shop.id, "start"), "startErp", 0.3);
    await enter(shop, password);
    await survives(await act(shop.id, "restart"), "restartErp", 0.3);
    await enter(shop, password);
  });

  await guarantee("a stopped ERP can be backed up and stays stopped", async () => {
    await succeeds(await act(shop.id, "stop"));
    assert.equal((await backUp(shop.id, "Stopped")).status, "completed");
    assert(!machine.docker("ps", "--format", "{{.Names}}").includes(shop.id));
    await succeeds(await act(shop.id, "start"));
  });
}
