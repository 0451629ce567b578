// What an ERP's container reaches, and how the ERP reaches itself.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import type { BackedUp, Chain } from "./context.ts";
import { fetchPage } from "./erp.ts";
import { until } from "./machine.ts";
import { OPENED_NETWORK } from "./service.ts";

const MACHINE_PORT = 2500;
/**
 * Hosts beside the machine, on one interface: a public one, a printer, a relay in a network that the operator has opened, a
 * resolver.
 */
const HOSTS = {
  public: "203.0.113.9",
  private: "192.168.77.2",
  opened: OPENED_NETWORK.replace(/0\/24$/, "2"),
  resolver: "169.254.169.253",
};
const PORTS = [25, 53, 80];
/** Maps the visitors' addresses to those of the machine that they visit. */
const VISITORS = { "203.0.113.9": "203.0.113.1", "2001:db8:9::9": "2001:db8:9::1" };

export async function network({ machine, guarantee, succeeds, siteOf, act }: Chain, { shop, erp }: BackedUp): Promise<void> {
  const container = `erp-${shop.id}`;

  await guarantee(
    "an ERP reaches resolvers and the networks that the operator has opened, but neither the machine, private networks nor mail servers",
    async () => {
      const neighbor = await startNeighbor();
      const server = createServer((socket) => socket.end()).listen(MACHINE_PORT, "0.0.0.0");
      try {
        await once(server, "listening");
        const gateway = machine
          .docker("exec", container, "sh", "-c", "awk '$2 == \"00000000\" { print $3 }' /proc/net/route")
          .trim();
        const machineAddress = [6, 4, 2, 0].map((at) => Number.parseInt(gateway.slice(at, at + 2), 16)).join(".");
        const places = [
          `${machineAddress}:${MACHINE_PORT}`,
          ...Object.values(HOSTS).flatMap((host) => PORTS.map((port) => `${host}:${port}`)),
        ];
        assert.deepEqual(reached(places), [
          `${HOSTS.public}:53`,
          `${HOSTS.public}:80`,
          `${HOSTS.private}:53`,
          ...PORTS.map((port) => `${HOSTS.opened}:${port}`),
          `${HOSTS.resolver}:53`,
        ]);
        assert(reached([`${machineAddress}:443`]).length === 1, "its own site by the machine's address");
      } finally {
        server.close();
        neighbor.kill("SIGKILL");
      }
    },
  );

  await guarantee("an ERP sees its visitors' addresses, over IPv6 as over IPv4", async () => {
    for (const { address, isSeen } of await visits()) assert(isSeen, address);
  });

  await guarantee("a machine whose proxy had no IPv6 shows these addresses, too, once its proxy is renewed", async () => {
    for (const command of [
      ["rm", "-f", "erp-caddy"],
      ["network", "rm", "erp-edge"],
      ["network", "create", "erp-edge"],
    ])
      machine.docker(...command);
    await succeeds(await act(shop.id, "restart"));
    assert.deepEqual(
      (await visits()).map(({ isSeen }) => isSeen),
      [true, false],
    );
    machine.script("renew_proxy");
    assert.equal((await fetchPage(siteOf(shop.domain), "/web/login")).status, 200);
    for (const { address, isSeen } of await visits()) assert(isSeen, address);
    assert.equal(machine.docker("network", "inspect", "-f", "{{.EnableIPv6}}", "erp-edge").trim(), "true");
  });

  /** Visits the shop from each address, and reports which of them the ERP has in its log. */
  async function visits(): Promise<{ address: string; isSeen: boolean }[]> {
    const neighbor = await startNeighbor();
    const options = { env: machine.environment, encoding: "utf8" } as const;
    try {
      const visited = [];
      for (const [address, machineAddress] of Object.entries(VISITORS)) {
        const path = `/web/login?visit=${randomUUID()}`;
        visit(neighbor.pid ?? 0, machineAddress, address, path);
        const log = () => execFileSync("sh", ["-c", 'docker logs --since 1m "$0" 2>&1', container], options);
        const lines = (): string[] =>
          log()
            .split("\n")
            .filter((line) => line.includes(path));
        await until(`the visit of ${address}`, 20, () => lines().length > 0);
        visited.push({ address, isSeen: lines().some((line) => line.includes(` ${address} - - [`)) });
      }
      return visited;
    } finally {
      neighbor.kill("SIGKILL");
    }
  }

  /** Requests a page of the shop from the machine's own address, as this neighbor. */
  function visit(pid: number, machineAddress: string, address: string, path: string): void {
    const to = machineAddress.includes(":") ? `[${machineAddress}]` : machineAddress;
    const options = ["-sk", "-m", "20", "-o", "/dev/null", "--interface", address, "--connect-to", `::${to}:443`];
    execFileSync("nsenter", ["-t", String(pid), "-n", "curl", ...options, `https://${shop.domain}${path}`]);
  }

  await guarantee("a PDF has its style although the domain has no DNS record", async () => {
    await erp.write("ir.config_parameter", await erp.search("ir.config_parameter", [["key", "=", "report.url"]]), { value: "" });
    const [model] = await erp.search("ir.model", [["model", "=", "res.partner"]]);
    const print = async (): Promise<Buffer> =>
      (
        await fetchPage(siteOf(shop.domain), `/report/pdf/base.report_irmodeloverview/${model}`, {
          headers: { cookie: erp.cookie },
        })
      ).body;
    assert((await print()).includes("DejaVuSerif"), "without its style it has the browser's own font");
    await erp.remove("ir.config_parameter", await erp.search("ir.config_parameter", [["key", "=", "report.url"]]));
    await succeeds(await act(shop.id, "restart"));
    const styled = await print();
    assert.equal(styled.subarray(0, 5).toString(), "%PDF-");
    assert(!styled.includes("DejaVuSerif"));
  });

  function reached(places: readonly string[]): string[] {
    const code = `
import socket, sys
for place in sys.argv[1:]:
    host, port = place.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), 1).close()
        print(place)
    except OSError:
        pass`;
    return machine
      .docker("exec", container, "python3", "-c", code, ...places)
      .split("\n")
      .filter(Boolean);
  }
}

/** A host with all those addresses, in a network namespace of its own, that listens at all those ports. */
async function startNeighbor() {
  const code = `
import socket, time
listening = [socket.create_server(("0.0.0.0", port)) for port in (${PORTS.join(", ")})]
time.sleep(600)`;
  const neighbor = spawn("unshare", ["--net", "python3", "-c", code], { stdio: "ignore" });
  const ip = (...args: string[]) => execFileSync("ip", args);
  const inside = (...args: string[]) => execFileSync("nsenter", ["-t", String(neighbor.pid), "-n", ...args]);
  const ownNamespace = (pid: number | string): string => execFileSync("readlink", [`/proc/${pid}/ns/net`]).toString();
  await until("the end of the last neighbor", 10, () => spawnSync("ip", ["link", "show", "neighbor"]).status !== 0);
  await until("the neighbor", 10, () => ownNamespace(neighbor.pid ?? 0) !== ownNamespace("self"));
  ip("link", "add", "neighbor", "type", "veth", "peer", "name", "machine", "netns", String(neighbor.pid));
  ip("link", "set", "neighbor", "up");
  inside("ip", "link", "set", "machine", "up");
  for (const address of Object.values(HOSTS)) {
    ip("address", "add", address.replace(/\d+$/, "1/24"), "dev", "neighbor");
    inside("ip", "address", "add", `${address}/24`, "dev", "machine");
  }
  ip("address", "add", "2001:db8:9::1/64", "dev", "neighbor", "nodad");
  inside("ip", "address", "add", "2001:db8:9::9/64", "dev", "machine", "nodad");
  return neighbor;
}
