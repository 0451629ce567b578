// What a sample of the machine costs it: the program that the timer runs, beside 40 containers and with what visitors have asked
// of their ERPs in a minute.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { INSTANCE_SERIES, pick } from "../../shared/domain/metrics.ts";
import { newId } from "../../shared/domain/ids.ts";
import { parseSamples } from "../../shared/hosts/samples.ts";
import type { Machine } from "./machine.ts";

const ERPS = 20;
const ROUNDS = 3;
const SAMPLES = 5;
const REQUESTS = 20;

/**
 * Returns the milliseconds of a processor that a sample takes with the programs that it starts: those of the fastest round, as
 * other work only makes it slower.
 */
export async function cpuOfSample(machine: Machine): Promise<number> {
  const ids = Array.from({ length: ERPS }, () => newId("instance"));
  const names = ids.flatMap((id) => [`erp-${id}`, `erp-${id}-db`]);
  const watch = join(machine.root, "watch");
  const volume = machine.docker("volume", "inspect", "-f", "{{.Mountpoint}}", "erp-caddy_data").trim();
  const logOf = (id: string): string => join(volume, "log", `${id}.log`);
  const environment = { ...machine.environment, ERP_HOSTING_ROOT: machine.root };
  try {
    machine.docker("network", "create", "--subnet", "192.168.79.0/24", "measured"); // the default ones are small
    const options = ["--label", "com.docker.compose.project=measured", "--network", "measured", "--entrypoint", "python3"];
    const listens = ["odoo:19.0", "-m", "http.server", "5432"]; // as PostgreSQL does
    for (const name of names) machine.docker("run", "-d", "--name", name, ...options, ...listens);
    mkdirSync(join(volume, "log"), { recursive: true }); // nobody has visited an ERP yet
    for (const id of ids) {
      mkdirSync(join(machine.root, "instances", id));
      writeFileSync(join(machine.root, "instances", id, "wanted"), "running");
      writeFileSync(logOf(id), "");
    }
    rmSync(join(watch, "containers"), { force: true });
    execFileSync("bash", [join(machine.root, "disk/watch.sh"), "measure"], { env: environment }); // asks it where its files are
    execFileSync("bash", [join(watch, "watch.sh")], { env: environment, timeout: 20_000 }); // asks Docker for the containers
    const rounds = Array.from({ length: ROUNDS }, () => timed(join(watch, "sample.pl"), ids.map(logOf), environment));
    const last = parseSamples(readFileSync(join(watch, "ring"), "utf8"), Date.now() / 1000).at(-1);
    const complete = ids.filter((id) =>
      ["erp_memory_bytes", "database_memory_bytes", "requests"].every(
        (name) => (pick(INSTANCE_SERIES, last?.instances.get(id), name) ?? 0) > 0,
      ),
    );
    assert.equal(complete.length, ERPS, "The sample lacks containers or requests");
    return Math.min(...rounds);
  } finally {
    for (const id of ids) {
      rmSync(join(machine.root, "instances", id), { recursive: true, force: true });
      rmSync(logOf(id), { force: true });
    }
    machine.docker("rm", "-f", ...names);
    machine.docker("network", "rm", "measured");
    rmSync(join(watch, "containers"), { force: true });
  }
}

const REQUEST = `${JSON.stringify({
  level: "info",
  ts: 1_790_000_000.5,
  logger: "http.log.access.log0",
  msg: "handled request",
  request: { remote_ip: "203.0.113.7", client_ip: "203.0.113.7", proto: "HTTP/2.0", method: "POST", uri: "/web/dataset/call_kw" },
  bytes_read: 512,
  duration: 0.0451,
  size: 5120,
  status: 200,
})}\n`;

/** A second and more between two of them, or they would not count as two. All but the program is the shell's own work. */
function timed(program: string, logs: readonly string[], env: NodeJS.ProcessEnv): number {
  const code = `exec 9<> <(:)
    for _ in {1..${SAMPLES}}; do
      for log in "$@"; do printf %s "$REQUESTS" >>"$log"; done
      perl "$0"
      read -rt 1.1 -u 9
    done
    times`;
  const options = { env: { ...env, REQUESTS: REQUEST.repeat(REQUESTS) }, encoding: "utf8" } as const;
  const ofChildren =
    execFileSync("bash", ["-c", code, program, ...logs], options)
      .trimEnd()
      .split("\n")
      .at(-1) ?? "";
  const seconds = Array.from(ofChildren.matchAll(/(\d+)m([\d.]+)s/g), ([, minutes, rest]) => 60 * Number(minutes) + Number(rest));
  assert.equal(seconds.length, 2, ofChildren);
  return (1000 * seconds.reduce((sum, each) => sum + each, 0)) / SAMPLES;
}
