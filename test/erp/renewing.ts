// A server's own software: its update, with newer images of the proxy and of the database servers, and its reboot. Both end well
// although Docker, or the whole machine, dies in the middle.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { BackedUp, Chain } from "./context.ts";
import { fetchPage } from "./erp.ts";
import { startImageRegistry } from "./image-registry.ts";
import { until } from "./machine.ts";

const [PROXY, DATABASE] = ["caddy:2", "pgvector/pgvector:pg16"];

export async function renew(
  { machine, client, guarantee, succeeds, siteOf, instanceOf }: Chain,
  { server, shop }: BackedUp,
): Promise<void> {
  const params = { id: server.id };
  const imagesOf = (): string[] =>
    ["erp-caddy", `erp-${shop.id}-db`].map((name) => machine.docker("inspect", "-f", "{{.Image}}", name).trim());
  const isAsBefore = async (): Promise<void> => {
    assert.equal((await fetchPage(siteOf(shop.domain), "/web/login")).status, 200);
    assert.deepEqual(
      [(await instanceOf(shop.id)).status, (await client.servers.get({ params })).data.status],
      ["running", "active"],
    );
  };

  const registry = await startImageRegistry(machine, [PROXY, DATABASE]);
  await sleep(1_000); // this process was busy with images: connections that have ended meanwhile must be noticed
  try {
    await guarantee("a server gets a newer proxy and database server although Docker dies with its containers", async () => {
      assert.deepEqual(imagesOf(), registry.before);
      const { data } = await client.servers.act({ params, body: { action: "update" } });
      const isRenewing = (): boolean => machine.isWorking(`${data.id}-updateDatabases`);
      await until("the database server is being renewed", 300, isRenewing, 20);
      await sleep(1_000);
      const start = await machine.killDocker({ containers: true });
      await start();
      const { result } = await succeeds(data.id);
      assert.deepEqual(imagesOf(), registry.newest);
      await isAsBefore();
      console.log(`  ${JSON.stringify(result)}`);
    });
  } finally {
    registry.stop();
  }

  await guarantee("a server that reboots has its ERPs again", async () => {
    const { data } = await client.servers.act({ params, body: { action: "reboot" } });
    await until("the reboot", 120, machine.isToReboot, 100);
    const start = await machine.die();
    await machine.boot();
    await start();
    const { result } = await succeeds(data.id);
    await isAsBefore();
    console.log(`  ${JSON.stringify(result)}`);
  });
}
