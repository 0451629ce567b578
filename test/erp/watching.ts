// The timer's look at a real ERP that was killed, paused, or lost its database: it is told, restarted, and told again.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type BackedUp, type Chain, DOMAIN } from "./context.ts";
import { fetchPage } from "./erp.ts";

export async function watch(
  { machine, service, client, guarantee, instanceOf, siteOf, end }: Chain,
  { server, shop }: BackedUp,
): Promise<void> {
  const erp = `erp-${shop.id}`;
  /** One minute of systemd and of the service's schedule, without the wait. */
  async function minute(): Promise<void> {
    const environment = { ...machine.environment, ERP_HOSTING_ROOT: machine.root };
    execFileSync("bash", [join(machine.root, "watch/watch.sh")], { env: environment, timeout: 20_000 });
    await service.check();
  }
  const told = async (type: string): Promise<number> =>
    (await client.events.list({ query: { resource_id: shop.id, type } })).meta.total;
  const seconds = (from: number): number => Math.round((performance.now() - from) / 1000);

  async function outage(what: string, cause: () => unknown): Promise<void> {
    const [down, up] = [await told("instance.down"), await told("instance.up")];
    await minute();
    assert.equal((await instanceOf(shop.id)).health.status, "ok");
    await cause();
    const began = performance.now();
    await minute();
    assert.equal((await instanceOf(shop.id)).health.status, "ok", "one outage of a moment is none");
    await minute();
    const { status, status_reason, health } = await instanceOf(shop.id);
    console.log(`  ${what}: told in the second minute (${seconds(began)} s of looking): ${status_reason}`);
    assert.deepEqual(
      { status, health: health.status, failed: health.checks.find(({ passed }) => passed === false)?.name },
      { status: "running", health: "failing", failed: "page" },
    );
    assert.equal(await told("instance.down"), down + 1);
    await minute();
    await minute();
    const { operation_id } = await instanceOf(shop.id);
    const restart = await end(operation_id);
    assert.deepEqual([restart.type, restart.status, restart.created_by.type], ["instance.restart", "succeeded", "service"]);
    await minute();
    const after = await instanceOf(shop.id);
    assert.deepEqual([after.status, after.health.status, after.status_reason], ["running", "ok", null]);
    assert.equal(await told("instance.up"), up + 1);
    assert.equal((await fetchPage(siteOf(DOMAIN), "/web/login")).status, 200);
  }

  await guarantee("an ERP that was killed is told within three minutes, and the service restarts it", () =>
    outage("killed", () => machine.docker("kill", erp)),
  );
  await guarantee("so is one that is paused", () => outage("paused", () => machine.docker("pause", erp)));
  await guarantee("so is one whose database was stopped", () =>
    outage("without its database", () => machine.docker("stop", `${erp}-db`)),
  );
  await guarantee("a timer whose line is gone takes no server away", async () => {
    rmSync(join(machine.root, "caddy/etc/status"), { recursive: true });
    for (let count = 0; count < 6; count++) await service.check();
    assert.equal((await instanceOf(shop.id)).health.status, "unknown");
    assert.equal((await client.servers.get({ params: { id: server.id } })).data.status, "active");
  });
}
