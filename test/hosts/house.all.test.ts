// What the script works out of a machine: Docker's configuration, and each instance's share.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { call } from "./house.ts";

describe("Docker's configuration", () => {
  const configured = (present: string | undefined, info = "inactive"): { file: unknown; calls: string } => {
    const folder = mkdtempSync(join(tmpdir(), "docker-"));
    try {
      for (const each of ["system/etc/docker", "system/run", "job/work"]) mkdirSync(join(folder, each), { recursive: true });
      const file = join(folder, "system/etc/docker/daemon.json");
      if (present !== undefined) writeFileSync(file, present);
      writeFileSync(join(folder, "system/run/docker.pid"), "1234567");
      const calls = call(
        `JOB=${folder}/job
         docker() { case "$*" in *Swarm*) echo ${info} ;; *LiveRestore*) echo true ;; esac; }
         timeout() { shift; "$@"; }
         kill() { echo "kill $*"; }; service() { echo "service $*"; }; systemctl() { echo "systemctl $*"; }
         ip() { case "$*" in *10.213.0.0/16) echo 10.213.7.0/24 dev eth1 ;; *match*) echo default via 10.0.0.1 ;; esac; }
         has_ipv6() { true; }
         configure_docker; configure_docker`,
        { ERP_HOSTING_SYSTEM: join(folder, "system") },
      );
      return { file: JSON.parse(readFileSync(file, "utf8")), calls };
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
  const OURS = {
    "live-restore": true,
    experimental: true,
    ip6tables: true,
    "default-address-pools": [
      { base: "172.17.0.0/16", size: 16 },
      { base: "10.212.0.0/16", size: 28 }, // has no route, as 10.213 has
    ],
  };

  test("the existing Docker configuration and running containers are kept, Docker reloads before it restarts, and nothing is done twice", () => {
    const { file, calls } = configured('{"data-root": "/srv/docker", "log-opts": {"max-size": "5m"}}');
    expect(file).toEqual({ ...OURS, "data-root": "/srv/docker", "log-opts": { "max-size": "5m" } });
    expect(calls).toMatch(/^(kill -HUP 1234567|systemctl reload docker)\n(service docker restart|systemctl restart docker)\n$/);
  });

  test("a missing Docker configuration is created, and existing address ranges stay", () => {
    expect(configured(undefined).file).toEqual(OURS);
    const chosen = [{ base: "10.9.0.0/16", size: 24 }];
    expect(configured(JSON.stringify({ "default-address-pools": chosen })).file).toEqual({
      ...OURS,
      "default-address-pools": chosen,
    });
  });

  test("whoever has turned Docker's rules for IPv6 off keeps that", () => {
    const { experimental: _, ...others } = OURS;
    expect(configured('{"ip6tables": false}').file).toEqual({ ...others, ip6tables: false });
  });

  test("a machine that gets its IPv6 route by advertisements keeps it, also after it has started again", () => {
    const folder = mkdtempSync(join(tmpdir(), "routes-"));
    const setting = (name: string): string => join(folder, "proc/sys/net/ipv6/conf", name, "accept_ra");
    const present = { all: 1, default: 1, lo: 1, eth0: 1, "eth0.5": 1, eth1: 0, eth2: 2, "br-0123": 1, veth7: 1 };
    try {
      for (const [name, value] of Object.entries(present)) {
        mkdirSync(dirname(setting(name)), { recursive: true });
        writeFileSync(setting(name), `${value}\n`);
      }
      call("keep_ipv6_routes", { ERP_HOSTING_SYSTEM: folder });
      const after = Object.keys(present).map((name) => [name, Number(readFileSync(setting(name), "utf8"))]);
      expect(Object.fromEntries(after)).toEqual({ ...present, eth0: 2, "eth0.5": 2 });
      const stored = readFileSync(join(folder, "etc/sysctl.d/60-erp-hosting.conf"), "utf8").trimEnd().split("\n");
      expect(stored.toSorted()).toEqual(["net/ipv6/conf/eth0.5/accept_ra = 2", "net/ipv6/conf/eth0/accept_ra = 2"]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("the proxy's network has IPv6 where the machine can pass on its addresses, and none where Docker rejects it", () => {
    const created = (has: boolean, accepts: boolean): string =>
      call(
        `keep_ipv6_routes() { :; }; has_ipv6() { ${has}; }; docker() { echo "$*" >&2; [[ $* != *--ipv6* ]] || ${accepts}; }; make_edge 2>&1`,
      );
    expect(created(true, true)).toMatch(/^network create --ipv6 --subnet fd[0-9a-f]{2}(:[0-9a-f]{4}){3}::\/64 erp-edge\n$/);
    expect(created(true, false)).toMatch(/ --ipv6 [^\n]+\nnetwork create erp-edge\n$/);
    expect(created(false, true)).toBe("network create erp-edge\n");
  });

  test("the proxy's network is replaced by one with IPv6 if it has none, and no other proxy's", () => {
    const calls = (present: string, removes = "true"): string =>
      call(
        `keep_ipv6_routes() { :; }; has_ipv6() { true; }; exists=${present === "" ? 1 : 0}
         docker() {
           case $* in *EnableIPv6*) echo ${present}; return $exists ;; "network inspect"*) return $exists ;; esac
           echo "$*" >&5
           case $* in "network rm"*) exists=1; ${removes} ;; esac
         }
         { renew_edge || echo failed; } 5>&1`,
      ).replaceAll(/--subnet \S+ /g, "");
    expect(calls("false")).toBe("rm -f erp-caddy\nnetwork rm erp-edge\nnetwork create --ipv6 erp-edge\n");
    expect(calls("true")).toBe("");
    expect(calls("")).toBe("network create --ipv6 erp-edge\n");
    expect(calls("false", "false")).toBe("rm -f erp-caddy\nnetwork rm erp-edge\nfailed\n");
  });

  test("an operator's renewal of the proxy succeeds, or says why it does not", () => {
    const ROOT = mkdtempSync(join(tmpdir(), "renewal-"));
    const renew = (reloads: string, renews = "true"): string =>
      call(
        `mkdir -p "$ROOT/locks"; for name in require_docker configure_docker refresh_firewall; do eval "$name() { :; }"; done
         renew_edge() { ${renews}; }; reload_proxy() { ${reloads}; }; renew_proxy`,
        { ERP_HOSTING_ROOT: ROOT },
      );
    try {
      expect(renew("true")).toBe("");
      expect(() => renew("false")).toThrow(/^The proxy does not start\n$/);
      // With something else in it, the old network stays, and the proxy starts in it again.
      expect(() => renew("echo reloaded >&2", "false")).toThrow(/^reloaded\nThe proxy's network could not be replaced\n$/);
    } finally {
      rmSync(ROOT, { recursive: true });
    }
  });

  test("the Docker configuration of a machine in a swarm is left unchanged", () => {
    expect(() => configured("{}", "active")).toThrow("It ended with 1");
  });
});

describe("shares", () => {
  const shares = (
    mb: number,
    processors: number,
    instances: number,
  ): { db: number; erp: number; cpus: number; workers: number } => {
    const folder = mkdtempSync(join(tmpdir(), "shares-"));
    try {
      for (let number = 0; number < instances; number += 1)
        mkdirSync(join(folder, "instances", `ins_${number}`), { recursive: true });
      const [db, erp, cpus, workers] = call(
        `memory_mb() { echo ${mb}; }; nproc() { echo ${processors}; }; share; echo "$DB_MB $ERP_MB $CPUS $WORKERS"`,
        { ERP_HOSTING_ROOT: folder },
      )
        .trim()
        .split(" ")
        .map(Number);
      return { db: db ?? 0, erp: erp ?? 0, cpus: cpus ?? 0, workers: workers ?? 0 };
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  test.each([
    [3900, 2, 1],
    [15_900, 4, 5],
    [64_000, 16, 40],
  ])(
    "the shares of %i MB and %i processors among %i instances leave room for the machine itself",
    (mb, processors, instances) => {
      const { db, erp, cpus, workers } = shares(mb, processors, instances);
      expect(instances * (db + erp)).toBeLessThanOrEqual(mb - 384);
      expect(cpus).toBeLessThanOrEqual(0.9 * processors);
      expect(workers * 300).toBeLessThanOrEqual(Math.max(erp, 600));
    },
  );

  test("with one more instance, the others shrink, but no job's container, nor a database below what it was started with", () => {
    const stats = {
      "erp-ins_1": "300MiB",
      "erp-ins_1-db": "100MiB",
      "erp-ins_2": "900MiB",
      "erp-ins_2-db": "100MiB",
      "erp-ins_2-files": "20MiB",
      "erp-ins_2-psql": "20MiB",
      "erp-ins_2-pg_dump": "20MiB",
      "erp-ins_2-buffer": "20MiB",
      "erp-ins_2-job": "20MiB",
      "erp-list-op_1-verifyArchive": "20MiB",
      "erp-new": "20MiB",
      "erp-new-db": "20MiB",
      "erp-drill-db": "20MiB",
      "erp-caddy": "20MiB",
      other: "20MiB",
    };
    const lines = Object.entries(stats).map(([name, used]) => `${name} ${used} / 8GiB`);
    const updates = call(
      `ID=new PROJECT=erp-new DB_MB=256 ERP_MB=768 CPUS=1
       docker() { case "$*" in
         stats*) echo '${lines.join("\n")}' ;;
         update*) echo "\${!#} $3" >&2 ;;
         *erp-ins_1-db) echo "[postgres -c max_connections=120 -c shared_buffers=1024MB -c effective_cache_size=3072MB]" ;;
         *erp-ins_2-db) echo "[postgres -c shared_buffers=64MB]" ;;
       esac; }
       resize_others 2>&1`,
    );
    expect(updates.trim().split("\n")).toEqual(["erp-ins_1 768m", "erp-ins_1-db 2176m", "erp-ins_2 1125m", "erp-ins_2-db 256m"]);
  });

  test("the share of an instance is never less than an ERP needs", () => {
    expect(shares(960, 1, 4)).toEqual({ db: 256, erp: 512, cpus: 0.5, workers: 0 });
  });
});
