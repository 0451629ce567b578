// What is told of a real ERP whose container, database, proxy, Docker or machine was killed: within three minutes, and again when
// it is back.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type BackedUp, type Chain, DOMAIN } from "./context.ts";
import { fetchPage } from "./erp.ts";
import { until } from "./machine.ts";

export async function watch(
  { machine, service, client, guarantee, instanceOf, siteOf, end, minute }: Chain,
  { server, shop }: BackedUp,
): Promise<void> {
  const erp = `erp-${shop.id}`;
  const countEvents = async (type: string, id = shop.id): Promise<number> =>
    (await client.events.list({ query: { resource_id: id, type } })).meta.total;
  const seconds = (from: number): number => Math.round((performance.now() - from) / 1000);
  const status = join(machine.root, "caddy/etc/status");
  const statusOfServer = async () => (await client.servers.get({ params: { id: server.id } })).data.status;

  /** Requires that an outage is told in the second minute after its cause; before, everything is well. */
  async function expectReported(name: string, failed: string, cause: () => unknown): Promise<void> {
    const down = await countEvents("instance.down");
    await minute();
    assert.equal((await instanceOf(shop.id)).health.status, "ok");
    await cause();
    const began = performance.now();
    await minute();
    assert.equal((await instanceOf(shop.id)).health.status, "ok", "one outage of a moment is none");
    await minute();
    const instance = await instanceOf(shop.id);
    console.log(`  ${name}: told in the second minute (${seconds(began)} s of looking): ${instance.status_reason}`);
    assert.deepEqual(
      {
        status: instance.status,
        health: instance.health.status,
        failed: instance.health.checks.find(({ passed }) => passed === false)?.name,
      },
      { status: "running", health: "failing", failed },
    );
    assert.equal(await countEvents("instance.down"), down + 1);
  }

  async function outage(name: string, cause: () => unknown): Promise<void> {
    const up = await countEvents("instance.up");
    await expectReported(name, "page", cause);
    await minute();
    await minute();
    const { operation_id } = await instanceOf(shop.id);
    const restart = await end(operation_id);
    assert.deepEqual([restart.type, restart.status, restart.created_by.type], ["instance.restart", "succeeded", "service"]);
    await minute();
    const after = await instanceOf(shop.id);
    assert.deepEqual([after.status, after.health.status, after.status_reason], ["running", "ok", null]);
    assert.equal(await countEvents("instance.up"), up + 1);
    assert.equal((await fetchPage(siteOf(DOMAIN), "/web/login")).status, 200);
  }

  /** What no restart of the ERP mends. Nobody begins one. */
  async function expectCutOff(name: string, cause: () => Promise<() => unknown>): Promise<void> {
    const up = await countEvents("instance.up");
    let mend: () => unknown = () => undefined;
    try {
      await expectReported(name, "proxy", async () => {
        mend = await cause();
      });
      for (let count = 0; count < 3; count++) await minute();
      assert.deepEqual([(await instanceOf(shop.id)).operation_id, await statusOfServer()], [null, "active"]);
    } finally {
      await mend();
    }
    await untilHealthy();
    assert.equal(await countEvents("instance.up"), up + 1);
  }
  async function untilHealthy(): Promise<void> {
    const isHealthy = async (): Promise<boolean> => {
      await minute();
      return (await instanceOf(shop.id)).health.status === "ok";
    };
    await until("the ERP is well again", 120, isHealthy, 1_000);
    assert.equal((await fetchPage(siteOf(DOMAIN), "/web/login")).status, 200);
  }

  await guarantee("an ERP that was killed is told within three minutes, and the service restarts it", () =>
    outage("killed", () => machine.docker("kill", erp)),
  );
  await guarantee("so is one that is paused", () => outage("paused", () => machine.docker("pause", erp)));
  await guarantee("so is one whose database was killed", () =>
    outage("without its database", () => machine.docker("kill", `${erp}-db`)),
  );

  await guarantee(
    "an ERP whose proxy was killed is told within three minutes, although nobody serves the line that says so",
    () =>
      expectCutOff("without its proxy", () => {
        machine.docker("kill", "erp-caddy");
        return Promise.resolve(() => machine.docker("start", "erp-caddy"));
      }),
  );
  await guarantee("so is one whose Docker was killed with its containers; it starts with Docker", () =>
    expectCutOff("without Docker and its containers", () => machine.killDocker({ containers: true })),
  );
  await guarantee("ERPs that go on without Docker are not told to be down", async () => {
    const down = await countEvents("instance.down");
    await minute();
    const start = await machine.killDocker({ containers: false });
    try {
      for (let count = 0; count < 3; count++) {
        await minute();
        const [line = ""] = readdirSync(status).map((name) => readFileSync(join(status, name), "utf8"));
        assert.match(line, /^erp1 \S+ \d+ - /);
      }
      // By loopback, Docker itself passes on what comes to the proxy, so that the line is not served here: nobody knows.
      assert.notEqual((await instanceOf(shop.id)).health.status, "failing");
      assert.equal(await countEvents("instance.down"), down);
    } finally {
      await start();
    }
    await untilHealthy();
  });

  await guarantee(
    "a machine that dies has an alert after three minutes, is offline after five, and is back with its ERPs",
    async () => {
      const [offline, online] = [await countEvents("server.offline", server.id), await countEvents("server.online", server.id)];
      await minute();
      const start = await machine.die();
      try {
        for (let count = 0; count < 3; count++) await service.check();
        const { data: alerts } = await client.alerts.list({ query: { status: "open", resource_id: server.id, kind: "down" } });
        assert.deepEqual([alerts.length, await statusOfServer()], [1, "active"]);
        for (let count = 0; count < 2; count++) await service.check();
        assert.equal(await statusOfServer(), "offline");
        assert.equal(await countEvents("server.offline", server.id), offline + 1);
      } finally {
        await start();
      }
      await service.check();
      assert.equal(await statusOfServer(), "active");
      assert.equal(await countEvents("server.online", server.id), online + 1);
      await untilHealthy();
    },
  );

  await guarantee("a timer whose line is gone takes no server away", async () => {
    for (const name of readdirSync(status)) rmSync(join(status, name));
    for (let count = 0; count < 6; count++) await service.check();
    assert.equal((await instanceOf(shop.id)).health.status, "unknown");
    assert.equal(await statusOfServer(), "active");
    await untilHealthy();
  });
}
