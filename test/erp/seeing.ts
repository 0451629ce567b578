// What is seen of a real ERP without an agent: its figures, its logs, and those of its operations.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { INSTANCE_SERIES, pick, SERVER_SERIES } from "../../shared/domain/metrics.ts";
import { parseSamples } from "../../shared/hosts/samples.ts";
import { type BackedUp, type Chain, DOMAIN } from "./context.ts";
import { fetchPage } from "./erp.ts";

export async function see(
  { machine, client, guarantee, instanceOf, siteOf, end, measureDisk, visit }: Chain,
  { server, shop }: BackedUp,
): Promise<void> {
  const environment = { ...machine.environment, ERP_HOSTING_ROOT: machine.root };
  const watch = join(machine.root, "watch");
  /** A minute of the timer, and its look into the databases, which it has every ten. */
  const minute = (): void => {
    const program = readFileSync(join(watch, "watch.sh"), "utf8").replace("now / 60 % 10 > 0", "0");
    measureDisk();
    execFileSync("bash", ["-c", program], { env: environment, timeout: 20_000 });
  };
  // A way out of the machine, which these namespaces do not have.
  execFileSync("ip", ["link", "add", "outside", "type", "veth", "peer", "name", "outside-peer"]);
  const params = { id: shop.id };

  await guarantee("an operation's log says what its work on the machine has printed", async () => {
    const { data } = await client.instances.act({ params, body: { action: "restart" } });
    assert.equal((await end(data.id)).status, "succeeded");
    const { text, ended } = (await client.operations.log({ params: { id: data.id } })).data;
    assert(ended && text.startsWith("# restart_erp\n"), text.slice(0, 200));
  });

  await guarantee("the timer's samples have every figure of the machine and of the ERP", async () => {
    rmSync(join(watch, "containers"), { force: true }); // the restart has new ones
    minute();
    await sleep(2_000);
    for (let request = 0; request < 5; request++) assert.equal((await fetchPage(siteOf(DOMAIN), "/web/login")).status, 200);
    minute();
    const last = parseSamples(readFileSync(join(watch, "ring"), "utf8"), Date.now() / 1000).at(-1);
    assert(last !== undefined, "There is no sample");
    const missing = [
      ...SERVER_SERIES.filter(({ name }) => pick(SERVER_SERIES, last.server, name) === null),
      ...INSTANCE_SERIES.filter(({ name }) => pick(INSTANCE_SERIES, last.instances.get(shop.id), name) === null),
    ].map(({ name }) => name);
    assert.deepEqual(missing, []);
    const figure = (name: string): number => pick(INSTANCE_SERIES, last.instances.get(shop.id), name) ?? 0;
    assert(
      figure("requests") > 0 && figure("p95_ms") > 0 && figure("erp_memory_bytes") > 50e6 && figure("database_connections") > 0,
    );
    console.log(`  ${JSON.stringify(Object.fromEntries(INSTANCE_SERIES.map(({ name }) => [name, figure(name)])))}`);
  });

  await guarantee("the next visit collects them, and they are shown", async () => {
    // The visit's own sample is the one of this minute, and has no flows less than a second after the one before.
    await sleep(1_100);
    await fetchPage(siteOf(DOMAIN), "/web/login");
    await visit();
    const ofServer = (await client.servers.metrics({ params: { id: server.id }, query: { series: "cpu_percent" } })).data;
    assert(ofServer.series[0]?.values.some((value) => value !== null));
    const ofShop = (await client.instances.metrics({ params, query: { series: "requests" } })).data;
    assert(ofShop.series[0]?.values.some((value) => value !== null && value > 0));
  });

  await guarantee("the logs of the ERP, its database and its proxy can be read, without the proxy's queries", async () => {
    await fetchPage(siteOf(DOMAIN), "/web/login?token=a-secret-of-a-visitor");
    for (const source of ["erp", "database", "proxy"] as const) {
      const { lines, next } = (await client.instances.logs({ params, query: { source } })).data;
      assert(
        lines.some(({ level }) => level !== null),
        `The log of ${source} is empty`,
      );
      assert(!lines.some(({ message }) => message.includes("a-secret-of-a-visitor")), source);
      assert.equal((await client.instances.logs({ params, query: { source, after: next, lines: 1 } })).data.truncated, false);
    }
  });
  assert.equal((await instanceOf(shop.id)).status, "running");
}
