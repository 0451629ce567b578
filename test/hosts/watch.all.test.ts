// The timer's program on a machine, as a job installs it: what it says of ERPs that respond, of such that do not, and of hostile
// ones.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { sampleProgram, watchProgram } from "../../shared/hosts/host-script.ts";
import { parseSamples } from "../../shared/hosts/samples.ts";
import { ssh } from "../../shared/hosts/ssh.ts";
import { parseStatusLine } from "../../shared/hosts/status-line.ts";
import { statusKeys } from "../../shared/platform/service-key.ts";
import { unless } from "../harness/unless.ts";
import { ownAws } from "./cloud.ts";
import { runToEnd } from "./jobs.ts";
import { noMachine, processesWith, startMachine, type TestMachine } from "./machine.ts";

const noNetwork =
  noMachine ?? (spawnSync("which", ["ip", "nsenter"]).status === 0 ? undefined : "there is no ip or nsenter here");

const noSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0 ? undefined : "there is no systemd-analyze here";

const NAMES_PROXY = '[ "$*" = "inspect -f {{.State.Pid}} erp-caddy" ] && cat $NOTES/proxy';

describe("a machine's timer", unless(noNetwork), () => {
  let machine: TestMachine;
  let stopErps = (): void => undefined;
  let program = "";

  beforeAll(async () => {
    await ownAws();
    machine = await startMachine();
    const erps = spawn("unshare", [
      "--net",
      "--kill-child",
      "--fork",
      "sh",
      "-c",
      'ip link set lo up && exec "$@"',
      "erps",
      process.execPath,
      join(import.meta.dirname, "erps-on-loopback.ts"),
      join(machine.root, "ran"),
    ]);
    stopErps = () => void erps.kill("SIGKILL");
    await once(erps.stdout, "data");
    const pid = readFileSync(`/proc/${erps.pid}/task/${erps.pid}/children`, "utf8").trim();
    machine.docker(":");
    machine.install("ins_1", {});
    await runToEnd(machine, { id: "op_1-startErp", kind: "start_erp", instance_id: "ins_1" });
    writeFileSync(join(machine.notes, "proxy"), pid);
    machine.standIn("docker", NAMES_PROXY);
    program = join(machine.root, "watch/watch.sh");
  });
  afterAll(async () => {
    stopErps();
    await machine.stop();
  });
  beforeEach(() => {
    for (const id of readdirSync(join(machine.root, "instances")))
      rmSync(join(machine.root, "instances", id), { recursive: true });
    rmSync(join(machine.root, "watch/faults"), { force: true });
  });

  function erp(id: string, { kind = "well", wanted = "running" } = {}): void {
    const here = join(machine.root, "instances", id);
    mkdirSync(here, { recursive: true });
    writeFileSync(join(here, "domain"), `${kind}.example.com`);
    writeFileSync(join(here, "wanted"), wanted);
  }
  const environment = () => ({
    ERP_HOSTING_ROOT: machine.root,
    NOTES: machine.notes,
    PATH: `${join(machine.root, "../commands")}:${process.env["PATH"]}`,
  });
  const status = (): string => join(machine.root, "caddy/etc/status");
  const text = (): string => readFileSync(join(status(), readdirSync(status())[0] ?? ""), "utf8");

  /** Runs the program as systemd would, and reads its line as the service does. */
  async function look() {
    const began = performance.now();
    execFileSync("bash", [program], { env: environment() });
    const [key] = await statusKeys(machine.server.id);
    const line = parseStatusLine(text(), machine.server.id, key);
    const faults = (line?.faults ?? []).map(({ instance_id, check, looks }) => `${instance_id} ${check} ${looks}`).toSorted();
    return { sequence: line?.sequence, paused: line?.paused, faults, seconds: (performance.now() - began) / 1000 };
  }

  test("a job of an instance sets the timer up, and its site, whose file only the proxy's root reads", async () => {
    const [{ name }] = await statusKeys(machine.server.id);
    expect(readFileSync(program, "utf8")).toBe(watchProgram());
    expect(readFileSync(join(machine.root, "caddy/etc/sites/status.caddy"), "utf8")).toContain("root * /etc/caddy/status");
    erp("ins_1");
    await look();
    expect(readdirSync(status())).toEqual([name]);
    expect(readFileSync(join(machine.root, "watch/sample.pl"), "utf8")).toBe(sampleProgram());
    for (const file of ["inner", "outer"]) expect(statSync(join(machine.root, "watch", file)).mode & 0o077).toBe(0);
  });

  test("so does a job of the machine itself, of whatever kind", async () => {
    rmSync(program);
    machine.docker(":");
    await runToEnd(machine, { id: "op_2-removeDrill", kind: "remove_drill" });
    machine.standIn("docker", NAMES_PROXY);
    expect(readFileSync(program, "utf8")).toBe(watchProgram());
  });

  const unit = (kind: string): string => join(machine.root, "../system/etc/systemd/system", `erp-watch.${kind}`);

  test("each run takes a sample, within the limits of its unit", async () => {
    erp("ins_1");
    await look();
    const ring = readFileSync(join(machine.root, "watch/ring"), "utf8");
    expect(parseSamples(ring, Date.now() / 1000).length).toBeGreaterThan(0);
    const service = readFileSync(unit("service"), "utf8");
    for (const limit of ["CPUQuota=20%", "MemoryMax=64M", "IOSchedulingClass=idle", "TimeoutStartSec=20"])
      expect(service).toContain(limit);
  });

  test("systemd takes the timer's units as they are", unless(noSystemd), () => {
    const words = ["verify", "--man=no", unit("service"), unit("timer")];
    const { stdout, stderr, status } = spawnSync("systemd-analyze", words, { encoding: "utf8" });
    expect({ stdout, stderr, status }).toEqual({ stdout: "", stderr: "", status: 0 });
  });

  test("an ERP that cannot be used is named with what does not load, and looked at twice the first time", async () => {
    for (const kind of ["well", "silent", "slow", "dead", "broken", "unserved", "unstyled", "unscripted", "endlessfile"])
      erp(`ins_${kind}`, { kind });
    erp("ins_stopped", { kind: "silent", wanted: "stopped" });
    const faults =
      "broken page,dead page,endlessfile script,silent page,slow page,unscripted script,unserved page,unstyled stylesheet".split(
        ",",
      );
    const first = await look();
    expect(first.faults).toEqual(faults.map((fault) => `ins_${fault} 2`));
    // One after another, they would take two minutes.
    expect(first.seconds).toBeLessThan(60);
    const secondsOf = (name: string): number => Number(new RegExp(`\\b${name}=(\\d+)`).exec(watchProgram())?.[1]);
    const longest = 2 * (secondsOf("PAGE_SECONDS") + secondsOf("FILE_SECONDS")) + secondsOf("AGAIN_SECONDS");
    expect(longest, "systemd kills it after 20 s, of which it needs a few for the rest").toBeLessThanOrEqual(16);
    expect(
      readdirSync(join(machine.root, "watch/pages")).filter(
        (file) => statSync(join(machine.root, "watch/pages", file)).size > 300_000,
      ),
    ).toEqual([]);
  });

  test("pages that never end, are huge, redirect or name strange links are pages, and nothing but the ERP itself is asked", async () => {
    for (const kind of ["endless", "huge", "redirecting", "injecting"]) erp(`ins_${kind}`, { kind });
    expect((await look()).faults).toEqual([]);
    const requests = readFileSync(join(machine.root, "watch/pages/requests"), "utf8");
    const urls = requests.split("\n").filter((line) => line.startsWith("url"));
    expect(urls.length).toBeGreaterThan(0);
    for (const url of urls) expect(url).toMatch(/^url = "http:\/\/127\.0\.0\.1:8079\/[A-Za-z0-9._~%/?=&;:,+@-]*"$/);
    expect(existsSync(join(machine.root, "ran"))).toBe(false);
    expect(processesWith(`ERP_HOSTING_ROOT=${machine.root}`).filter((pid) => pid !== process.pid)).toEqual([]);
  });

  test("a line says that instances are paused, which are not looked at", async () => {
    erp("ins_1", { kind: "dead" });
    erp("ins_2", { kind: "dead" });
    for (const id of ["ins_1", "ins_2"]) writeFileSync(join(machine.root, "instances", id, "paused"), "quota");
    expect(await look()).toMatchObject({ faults: [], paused: true });
    expect(text()).toContain(" disk:paused:2 ");
    for (const id of ["ins_1", "ins_2"]) rmSync(join(machine.root, "instances", id, "paused"));
    expect(await look()).toMatchObject({ faults: ["ins_1 page 2", "ins_2 page 2"], paused: false });
  });

  test("a redirect of an old domain ends with the time of its file, and the proxy loads its sites again", async () => {
    const file = (domain: string): string => join(machine.root, "caddy/etc/sites", `ins_1.from-${domain}.caddy`);
    for (const domain of ["old.example.com", "older.example.com"]) writeFileSync(file(domain), `${domain} {\n}\n`);
    utimesSync(file("old.example.com"), Date.now() / 1000, Date.now() / 1000 + 3600);
    utimesSync(file("older.example.com"), Date.now() / 1000, Date.now() / 1000 - 60);
    machine.standIn(
      "docker",
      'echo "$*" >> $NOTES/reloads; [ "$*" != "inspect -f {{.State.Pid}} erp-caddy" ] || cat $NOTES/proxy',
    );
    await look();
    expect([existsSync(file("old.example.com")), existsSync(file("older.example.com"))]).toEqual([true, false]);
    expect(readFileSync(join(machine.notes, "reloads"), "utf8")).toContain("exec erp-caddy caddy reload");
    rmSync(join(machine.notes, "reloads"));
    await look();
    expect(readFileSync(join(machine.notes, "reloads"), "utf8")).not.toContain("reload");
    rmSync(file("old.example.com"));
  });

  test("while a job works on an ERP, it is not named", async () => {
    erp("ins_1", { kind: "dead" });
    const job = spawn("flock", ["-o", join(machine.root, "locks/ins_1"), "sleep", "60"]);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((await look()).faults).toEqual([]);
    job.kill();
    expect((await look()).faults).toEqual(["ins_1 page 2"]);
  });

  test("without its proxy no ERP can be used", async () => {
    erp("ins_1");
    erp("ins_2");
    const proxy = readFileSync(join(machine.notes, "proxy"), "utf8");
    writeFileSync(join(machine.notes, "proxy"), "0\n");
    expect((await look()).faults).toEqual(["ins_1 proxy 2", "ins_2 proxy 2"]);
    writeFileSync(join(machine.notes, "proxy"), proxy);
    expect((await look()).faults).toEqual([]);
  });

  test.each([
    ["is dead", 'echo "Cannot connect to the Docker daemon. Is the docker daemon running?" >&2; exit 1'],
    ["has no socket", 'echo "failed to connect to the docker API: dial unix /run/x.sock: no such file or directory" >&2; exit 1'],
    ["hangs", "exec sleep 600"],
  ])(
    "the proxy that a Docker named which %s is looked through while it lives, and no ERP can be used after it",
    async (_, docker) => {
      erp("ins_1");
      erp("ins_dead", { kind: "dead" });
      expect((await look()).faults).toEqual(["ins_dead page 2"]);
      machine.standIn("docker", docker);
      machine.standIn("pgrep", '[ "$*" = "-x caddy" ] && exit 1; exit 2');
      expect((await look()).faults).toEqual(["ins_dead page 1"]);
      // The proxy's process has ended, and its number is another one's.
      writeFileSync(
        join(machine.root, "watch/proxy"),
        readFileSync(join(machine.root, "watch/proxy"), "utf8").replace(/ .*/, " 1"),
      );
      expect((await look()).faults).toEqual(["ins_1 proxy 2", "ins_dead proxy 1"]);
      // Another proxy may have begun: nobody can say.
      machine.standIn("pgrep", "echo 4242");
      const before = text();
      expect(() => execFileSync("bash", [program], { env: environment(), stdio: "ignore" })).toThrow("Command failed");
      expect(text()).toBe(before);
      rmSync(join(machine.root, "../commands/pgrep"));
      machine.standIn("docker", NAMES_PROXY);
      expect((await look()).faults).toEqual(["ins_dead page 1"]);
    },
  );

  test("a login brings the line, too, and believes it as little", async () => {
    erp("ins_1", { kind: "dead" });
    const { sequence } = await look();
    const faults = [{ instance_id: "ins_1", check: "page", looks: 2 }];
    expect((await ssh.probe(machine.server)).line).toEqual({ sequence, faults, paused: false });
    const [name = ""] = readdirSync(status());
    writeFileSync(join(status(), name), text().replace(":page:", ":proxy:"));
    expect(await ssh.probe(machine.server)).toMatchObject({ responded: true, line: undefined });
    rmSync(join(status(), name));
    expect(await ssh.probe(machine.server)).toMatchObject({ responded: true, line: undefined });
  });

  test("the sequence rises although the clock goes back, and a line is believed only as its own server's, unchanged", async () => {
    erp("ins_1");
    const [key] = await statusKeys(machine.server.id);
    const far = 9_999_999_999;
    writeFileSync(join(machine.root, "watch/sequence"), `${far}\n`);
    expect((await look()).sequence).toBe(far + 1);
    const line = text();
    expect(parseStatusLine(line, machine.server.id, key)).toMatchObject({ sequence: far + 1, faults: [] });
    expect(parseStatusLine(line, "srv_other", key)).toBeUndefined();
    expect(parseStatusLine(line, machine.server.id, { ...key, key: Buffer.alloc(64) })).toBeUndefined();
    for (const forged of [
      line.replace(" - ", " ins_1:page:1 "),
      line.replace(String(far + 1), String(far + 2)),
      line.trimEnd(),
      `${line}x`,
      "",
    ])
      expect(parseStatusLine(forged, machine.server.id, key), forged).toBeUndefined();
  });

  /** Returns a clock for bash that is at a tenth minute, when databases are asked, or at the one after it. */
  const clock = (seconds: number) => ({
    "BASH_FUNC_printf%%": `() { if [[ $1\${2-} == -vnow ]]; then now=${seconds}; else builtin printf "$@"; fi; }`,
  });

  test("in each tenth minute, databases say how late they are; an ERP without one is left out without a word", async () => {
    for (const id of ["ins_1", "ins_hostile", "ins_unnamed"]) erp(id);
    for (const id of ["ins_1", "ins_hostile"]) writeFileSync(join(machine.root, "instances", id, "database"), "shop");
    machine.standIn(
      "docker",
      `${NAMES_PROXY}; case "$*" in *"erp-ins_1-db psql"*" -d shop "*) echo 120 3 ;; *psql*) echo "1 2;reboot" ;; esac`,
    );
    const slow = join(machine.root, "watch/slow");
    const run = (seconds: number) =>
      spawnSync("bash", [program], { env: { ...environment(), ...clock(seconds) }, encoding: "utf8" });
    expect(run(660)).toMatchObject({ status: 0, stdout: "", stderr: "" });
    expect(existsSync(slow)).toBe(false);
    expect(run(600)).toMatchObject({ status: 0, stdout: "", stderr: "" });
    expect(readFileSync(slow, "utf8")).toBe("ins_1 120 3\n");
    machine.standIn("docker", NAMES_PROXY);
  });

  test.each([600, 660])("40 ERPs that respond cost little of the machine, %i seconds after an hour", async (seconds) => {
    for (let number = 1; number <= 40; number++) erp(`ins_${number}`);
    expect((await look()).faults).toEqual([]);
    // A fifth of a processor for 20 s is what systemd allows: 4 s.
    const { stdout } = spawnSync("bash", ["-c", `TIMEFORMAT='%U %S'; { time bash ${program}; } 2>&1`], {
      env: { ...environment(), ...clock(seconds) },
      encoding: "utf8",
    });
    const [user = NaN, system = NaN] = stdout.trim().split(" ").map(Number);
    expect(user + system).toBeLessThan(1);
  });
});
