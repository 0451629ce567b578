// The figures that a machine's timer samples, by the real program, with the kernel's own files of this computer and made-up
// cgroups; and what the service believes of them.
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { INSTANCE_SERIES, pick, type Sample, SERVER_SERIES } from "../../shared/domain/metrics.ts";
import { sampleProgram } from "../../shared/hosts/host-script.ts";
import { parseSamples } from "../../shared/hosts/samples.ts";
import { newId } from "../../shared/domain/ids.ts";
import { unless } from "../harness/unless.ts";

const noPerl = process.platform === "linux" && spawnSync("perl", ["-v"]).status === 0 ? undefined : "they need Linux, and Perl";

const MB = 2 ** 20;
const MINUTE_MS = 60_000;

describe("a sample of a machine", unless(noPerl), () => {
  let folder = "";
  let program = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "samples-"));
    program = join(folder, "sample.pl");
    writeFileSync(program, sampleProgram());
    put("root/disk/docker_root", `${join(folder, "docker")}\n`);
    mkdirSync(join(folder, "root/watch"), { recursive: true });
    mkdirSync(join(folder, "docker"));
    uptime = 1000;
    kernel();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function put(name: string, text: string): void {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const ringText = (): string => readFileSync(join(folder, "root/watch/ring"), "utf8");

  let uptime = 0;
  /** The kernel's own figures, a minute after the last ones. */
  function kernel({ busy = 0, idle = 0, read = 0, bytes = 0 } = {}): void {
    uptime += 60;
    put("proc/uptime", `${uptime}.50 1.00\n`);
    put("proc/stat", `cpu  ${1000 + busy} 0 0 ${5000 + idle} 0 0 0 0 0 0\ncpu0 1 2 3\n`);
    put("proc/meminfo", "MemTotal: 4096000 kB\nMemAvailable: 1024000 kB\nSwapTotal: 2048 kB\nSwapFree: 1024 kB\n");
    put("proc/loadavg", "0.52 0.40 0.30 1/100 4242\n");
    const disk = (name: string): string => ` 8 0 ${name} 10 0 ${read} 5 10 0 ${2 * read} 5 0 5 5\n`;
    put("proc/diskstats", ["sda", "sda1", "loop0", "dm-0"].map(disk).join(""));
    const row = (name: string): string => `${name}: ${bytes} 1 0 0 0 0 0 0 ${3 * bytes} 1 0 0 0 0 0 0\n`;
    put("proc/net/dev", `Inter-| Receive\n face |bytes\n${["  lo", "eth0", "docker0", "br-1", "veth1"].map(row).join("")}`);
  }

  function sample({ times = 1 } = {}): { last: Sample; text: string } {
    for (let time = 0; time < times; time++) execFileSync("perl", ["-w", program], { env: environment(), stdio: "pipe" });
    const text = ringText();
    const last = parseSamples(text, Date.now() / 1000).at(-1);
    if (last === undefined) throw new Error(`There is no sample in ${text}`);
    return { last, text };
  }
  const environment = () => ({
    PATH: process.env["PATH"],
    ERP_HOSTING_ROOT: join(folder, "root"),
    ERP_HOSTING_PROC: join(folder, "proc"),
    ERP_HOSTING_CGROUP: join(folder, "cgroup"),
  });
  const ofServer = ({ server }: Sample, name: string) => pick(SERVER_SERIES, server, name);
  const ofInstance = ({ instances }: Sample, id: string, name: string) => pick(INSTANCE_SERIES, instances.get(id), name);

  let count = 0;
  /** An ERP with its database, each in a container. */
  function erp(id: string, version: 1 | 2 = 2) {
    put(`root/instances/${id}/wanted`, "running");
    const containers = ["", "-db"].map((part) => {
      const [hash, pid] = [(++count).toString(16).padStart(64, "0"), String(1000 + count)];
      appendFileSync(join(folder, "root/watch/containers"), `erp-${id}${part} ${hash}\n`);
      return { hash, pid };
    });
    const [erpContainer, database] = [containers[0], containers[1]];
    if (erpContainer === undefined || database === undefined) throw new Error("There are two");
    const route = (...nets: string[]): string =>
      `Iface\tDestination\tGateway\n${nets.map((net, index) => `eth${index}\t${net}\t00000000\n`).join("")}eth0\t00000000\t010011AC\n`;
    const set = ({ cpu = 0, bytes = 0, sockets = 0 } = {}): void => {
      for (const { hash, pid } of containers) {
        if (version === 2) {
          const path = `cgroup/system.slice/docker-${hash}.scope`;
          put(`${path}/cpu.stat`, `usage_usec ${cpu}\nuser_usec 1\n`);
          put(`${path}/memory.current`, `${300 * MB}\n`);
          put(`${path}/memory.stat`, `anon 1\ninactive_file ${100 * MB}\n`);
          put(`${path}/cgroup.procs`, `${pid}\n9\n`);
        } else {
          put(`cgroup/cpuacct/docker/${hash}/cpuacct.usage`, `${cpu * 1000}\n`);
          put(`cgroup/cpuacct/docker/${hash}/cgroup.procs`, `${pid}\n`);
          put(`cgroup/memory/docker/${hash}/memory.usage_in_bytes`, `${300 * MB}\n`);
          put(`cgroup/memory/docker/${hash}/memory.stat`, `total_inactive_file ${100 * MB}\n`);
        }
      }
      put(`proc/${erpContainer.pid}/net/route`, route("0002A8C0", "0001A8C0"));
      put(`proc/${database.pid}/net/route`, route("0001A8C0"));
      const device = (name: string, many: number): string => `${name}: ${many} 1 0 0 0 0 0 0 ${2 * many} 1 0 0 0 0 0 0\n`;
      put(`proc/${erpContainer.pid}/net/dev`, device("eth0", bytes) + device("eth1", 1000 * bytes) + device("lo", bytes));
      put(`proc/${database.pid}/net/sockstat`, `sockets: used 9\nTCP: inuse ${sockets + 2} orphan 0 tw 5 alloc 90 mem 0\n`);
      put(`proc/${database.pid}/net/sockstat6`, "TCP6: inuse 1\nUDP6: inuse 0\n");
    };
    const listen = (...ports: string[]): void =>
      put(
        `proc/${database.pid}/net/tcp`,
        ports.map((port, index) => `   ${index}: 0100007F:${port} 00000000:0000 0A 0\n`).join(""),
      );
    put(`proc/${database.pid}/net/tcp6`, `   0: ${"0".repeat(32)}:1538 ${"0".repeat(32)}:0000 0A 0\n`);
    listen("8A3F", "1538"); // Docker's resolver, and PostgreSQL
    set();
    return { id, set, listen, containers, database };
  }

  const logFile = (id: string): string => `docker/volumes/erp-caddy_data/_data/log/${id}.log`;
  const request = (fields: { status?: number; duration?: number; uri?: string }): string => {
    const { status = 200, duration = 0.1, uri = "/web" } = fields;
    return `${JSON.stringify({ level: "info", ts: 1.5, msg: "handled request", request: { uri }, bytes_read: 0, duration, size: 5, status })}\n`;
  };

  test("a machine's figures are the kernel's, and flows are means since the sample before", () => {
    const { last: first } = sample();
    expect([ofServer(first, "cpu_percent"), ofServer(first, "disk_read_bytes")]).toEqual([null, null]);
    kernel({ busy: 300, idle: 100, read: 600, bytes: 6000 });
    const { last } = sample();
    const figures = Object.fromEntries(SERVER_SERIES.map(({ name }) => [name, ofServer(last, name)]));
    expect(figures).toEqual({
      cpu_percent: 75,
      load: 0.52,
      memory_used_bytes: 3_072_000 * 1024,
      swap_used_bytes: MB,
      disk_used_bytes: expect.any(Number),
      disk_read_bytes: 5120,
      disk_write_bytes: 10_240,
      network_in_bytes: 100,
      network_out_bytes: 300,
    });
    expect(figures["disk_used_bytes"]).toBeGreaterThan(1e9);
    expect(Math.abs(last.at * 1000 - Date.now())).toBeLessThan(MINUTE_MS);
  });

  test("counters that begin anew, and a long pause, have no flow", () => {
    kernel({ busy: 100, bytes: 5000 });
    sample();
    kernel({ busy: 50, bytes: 100 });
    expect(ofServer(sample().last, "network_in_bytes")).toBeNull();
    uptime += 3600;
    kernel({ busy: 5000, bytes: 100_000 });
    const { last } = sample();
    expect([ofServer(last, "network_in_bytes"), ofServer(last, "cpu_percent")]).toEqual([null, null]);
  });

  test.each([1, 2] as const)("an instance's figures are those of its containers, with version %i of cgroups", (version) => {
    const { id, set } = erp(newId("instance"), version);
    sample();
    kernel();
    set({ cpu: 30_000_000, bytes: 6000, sockets: 7 });
    const { last } = sample();
    const figures = Object.fromEntries(INSTANCE_SERIES.map(({ name }) => [name, ofInstance(last, id, name)]));
    expect(figures).toMatchObject({
      erp_cpu_percent: 50,
      erp_memory_bytes: 200 * MB,
      database_cpu_percent: 50,
      database_memory_bytes: 200 * MB,
      network_in_bytes: 100, // without what it and its database tell each other
      network_out_bytes: 200,
      requests: null,
      database_connections: 7,
      database_bytes: null,
      cron_overdue_seconds: null,
    });
  });

  test("connections are told from what listens, once PostgreSQL does, also after the database has been started again", () => {
    const { id, set, listen, database } = erp(newId("instance"));
    const connections = (sockets: number): number | null => {
      set({ sockets });
      kernel();
      return ofInstance(sample().last, id, "database_connections");
    };
    put(`proc/${database.pid}/net/tcp6`, "");
    listen("8A3F");
    expect(connections(4)).toBeNull();
    listen("8A3F", "1538", "1538");
    expect(connections(4)).toBe(4);
    listen(); // is not read again
    expect(connections(6)).toBe(6);
    database.pid = "2000";
    listen("8A3F", "8A40", "1538");
    expect(connections(5)).toBe(5);
  });

  test("requests, errors and their times are those of the site's log since the sample before", () => {
    const { id } = erp(newId("instance"));
    put(logFile(id), request({ status: 500 }));
    expect(ofInstance(sample().last, id, "requests")).toBeNull();
    kernel();
    const times = Array.from({ length: 100 }, (_, index) =>
      request({ duration: (index + 1) / 1000, status: index < 3 ? 502 : 200 }),
    );
    appendFileSync(join(folder, logFile(id)), `${times.join("")}${request({ status: 101, duration: 3600 })}{"level":"info","ts`);
    const { last } = sample();
    expect(["requests", "errors_5xx", "p50_ms", "p95_ms"].map((name) => ofInstance(last, id, name))).toEqual([101, 3, 51, 96]);
    kernel();
    appendFileSync(join(folder, logFile(id)), `":2,"request":{},"duration":0.25,"size":1,"status":200}\n`);
    expect(ofInstance(sample().last, id, "requests")).toBe(1);
    kernel();
    const idle = sample().last;
    expect([ofInstance(idle, id, "requests"), ofInstance(idle, id, "p95_ms")]).toEqual([0, null]);
    renameSync(join(folder, logFile(id)), join(folder, `${logFile(id)}.old`));
    put(logFile(id), request({ duration: 0.5 }));
    kernel();
    expect(ofInstance(sample().last, id, "p50_ms")).toBe(500);
  });

  test("requests at the end of a log that the proxy has begun anew count, too", () => {
    const { id } = erp(newId("instance"));
    put(logFile(id), request({}));
    sample();
    kernel();
    appendFileSync(join(folder, logFile(id)), request({ status: 500 }).repeat(3));
    renameSync(join(folder, logFile(id)), join(folder, logFile(id).replace(".log", "-2026-11-26T10-00-00.000.log")));
    put(logFile(id), request({}).repeat(2));
    const { last } = sample();
    expect([ofInstance(last, id, "requests"), ofInstance(last, id, "errors_5xx")]).toEqual([5, 3]);
    kernel();
    expect(ofInstance(sample().last, id, "requests")).toBe(0);
  });

  test("of a flood of requests, the end of its log stands for all", () => {
    const { id } = erp(newId("instance"));
    put(logFile(id), "");
    sample();
    kernel();
    put(logFile(id), "");
    appendFileSync(join(folder, logFile(id)), request({ uri: `/${"x".repeat(1000)}` }).repeat(20_000));
    const requests = ofInstance(sample().last, id, "requests") ?? 0;
    expect(requests).toBeGreaterThan(19_000);
    expect(requests).toBeLessThan(21_000);
  });

  test("what a client writes is no status and no time", () => {
    const { id } = erp(newId("instance"));
    put(logFile(id), "");
    sample();
    kernel();
    const uri = `/a","duration":9,"size":1,"status":503}\n{"level":"x","duration":9,"size":1,"status":503}`;
    writeFileSync(join(folder, logFile(id)), request({ uri }) + request({ uri: `${uri}\\` }));
    const { last } = sample();
    expect(["requests", "errors_5xx", "p95_ms"].map((name) => ofInstance(last, id, name))).toEqual([2, 0, 100]);
  });

  test("what the database says is taken once, if it is two numbers", () => {
    const ids = [newId("instance"), newId("instance")];
    for (const id of ids) {
      erp(id);
      put(`root/instances/${id}/used`, "1000 2000\n");
    }
    put("root/watch/slow", `${ids[0]} 120 3\n${ids[1]} 1;reboot 3\n`);
    const slow = ["database_bytes", "filestore_bytes", "cron_overdue_seconds", "longest_transaction_seconds"];
    const { last } = sample();
    expect(slow.map((name) => ofInstance(last, ids[0] ?? "", name))).toEqual([1000, 2000, 120, 3]);
    expect(slow.map((name) => ofInstance(last, ids[1] ?? "", name))).toEqual([1000, 2000, null, null]);
    kernel();
    expect(slow.map((name) => ofInstance(sample().last, ids[0] ?? "", name))).toEqual([null, null, null, null]);
  });

  test("an ERP whose container is gone has no figures, and Docker is asked for its containers before the next sample", () => {
    const { id, containers } = erp(newId("instance"));
    sample();
    expect(existsSync(join(folder, "root/watch/stale"))).toBe(false);
    rmSync(join(folder, `cgroup/system.slice/docker-${containers[0]?.hash}.scope`), { recursive: true });
    const { last } = sample();
    expect([ofInstance(last, id, "erp_memory_bytes"), ofInstance(last, id, "database_memory_bytes")]).toEqual([null, 200 * MB]);
    expect(existsSync(join(folder, "root/watch/stale"))).toBe(true);
  });

  test("the ring has the last three hours, and does not grow for ever", () => {
    const { text } = sample();
    writeFileSync(join(folder, "root/watch/ring"), text.repeat(360));
    expect(sample().text.split("\n")).toHaveLength(181);
  });

  test("the ring has the last three hours also of more instances than fit in 4 MB", () => {
    for (let number = 0; number < 200; number++)
      mkdirSync(join(folder, "root/instances", newId("instance")), { recursive: true });
    const { text } = sample();
    writeFileSync(join(folder, "root/watch/ring"), text.repeat(400));
    expect(text.length).toBeGreaterThan(15_000);
    expect(sample().text.split("\n")).toHaveLength(181);
    expect(sample().text.split("\n")).toHaveLength(182);
  });

  test("a container that drops its cache while it is measured uses no less than nothing", () => {
    const { id, containers } = erp(newId("instance"));
    put(`cgroup/system.slice/docker-${containers[0]?.hash}.scope/memory.current`, `${MB}\n`);
    const { last } = sample();
    expect([ofInstance(last, id, "erp_memory_bytes"), ofInstance(last, id, "database_memory_bytes")]).toEqual([0, 200 * MB]);
  });

  test("a sample of 40 containers takes less than ten starts of Perl: it starts nothing for each of them", () => {
    for (let number = 0; number < 20; number++) erp(newId("instance")).set({ cpu: 5, bytes: 5, sockets: 10 });
    sample();
    const cpuSeconds = (command: string): number => {
      const { stdout } = spawnSync("bash", ["-c", `TIMEFORMAT='%U %S'; { time for _ in {1..15}; do ${command}; done; } 2>&1`], {
        env: environment(),
        encoding: "utf8",
      });
      const [user = NaN, system = NaN] = stdout.trim().split(" ").map(Number);
      return user + system;
    };
    // The two programs run in turns, because the processor is slower beside other tests.
    const rounds = [1, 2, 3].map(() => cpuSeconds(`perl ${program}`) / cpuSeconds("perl -e 1"));
    expect(Math.min(...rounds)).toBeLessThan(10); // about five
  });
});

test("of what a machine sends, lines and figures that are wrong cost only themselves", () => {
  const now = 1_800_000_000;
  const id = newId("instance");
  const line = (fields: object): string => JSON.stringify({ t: now, s: [1, 2], i: { [id]: [3] }, ...fields });
  const sound = line({});
  const wrong = [
    "",
    "{",
    "null",
    line({ t: now + 3600 }),
    line({ t: now - 4 * 3600 }),
    line({ t: "x" }),
    line({ s: Array.from({ length: 101 }, () => 1) }),
    line({ i: { [id]: true } }),
    '{"t":1800000000,"s":[NaN],"i":{}}',
  ];
  const samples = parseSamples([...wrong, sound, ...wrong].join("\n"), now);
  expect(samples).toHaveLength(1);
  expect(samples[0]?.server).toEqual([1, 2, ...SERVER_SERIES.slice(2).map(() => null)]);
  expect(samples[0]?.instances.get(id)).toEqual([3, ...INSTANCE_SERIES.slice(1).map(() => null)]);
  const other = newId("instance");
  const [partly] = parseSamples(line({ s: [-1, 2, "3", 1e300], i: { [id]: [-1, true, 4], [other]: [5] } }), now);
  expect(partly?.server.slice(0, 4)).toEqual([null, 2, null, null]);
  expect([partly?.instances.get(id)?.slice(0, 3), partly?.instances.get(other)?.[0]]).toEqual([[null, null, 4], 5]);
  const names = parseSamples(line({ i: { [id]: [1], "__proto__/..": [1], srv_x: [1] } }), now)[0]?.instances;
  expect([...(names?.keys() ?? [])]).toEqual([id]);
});
