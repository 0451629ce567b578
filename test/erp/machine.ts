// The machine of the chain: this one, with a Docker and an sshd of its own, both gone at the end. Images are kept for the next run.
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { keyPairOf } from "../../shared/hosts/key-pair.ts";

const KEPT = resolve(import.meta.dirname, "../../.local/erp");
const PROGRAMS = [
  "dockerd",
  "docker",
  "debootstrap",
  "sshd",
  "nft",
  "unshare",
  "shellcheck",
  "flock",
  "zip",
  "unzip",
  "jq",
  "curl",
];
export const SSH_PORT = 2422;
const WEB_PORTS = [80, 443];

export interface Machine {
  hostKey: string;
  /** In place of /var/lib/erp-hosting. */
  root: string;
  /** In front of /etc and /root, so that this machine's own files stay as they are. */
  system: string;
  /** Lets this key in as root. */
  admit: (publicKey: string) => void;
  docker: (...args: string[]) => string;
  /** The certificate authority of the proxy. */
  authority: () => string;
  /** Kills the operation's job as soon as the machine works on it; tells whether it was in the middle of it. */
  killJob: (operationId: string, step: string, afterSeconds: number) => Promise<boolean>;
  stop: () => Promise<void>;
}

/** What is missing, in words; undefined if all is there. */
export async function missing(): Promise<string | undefined> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "It needs Linux, and root.";
  const path = (process.env["PATH"] ?? "").split(":").concat("/usr/local/sbin", "/usr/sbin", "/sbin");
  const absent = PROGRAMS.filter((name) => !path.some((folder) => existsSync(join(folder, name))));
  if (absent.length > 0)
    return `These are missing: ${absent.join(", ")}. On Debian: apt-get install docker.io docker-compose debootstrap openssh-server nftables shellcheck zip unzip jq curl`;
  for (const port of [...WEB_PORTS, SSH_PORT])
    if (await answers(port)) return `Port ${port} is taken: the machine's proxy needs 80 and 443, its sshd ${SSH_PORT}.`;
  return undefined;
}

export async function startMachine(): Promise<Machine> {
  const folder = mkdtempSync(join(tmpdir(), "erp-"));
  const within = (name: string): string => join(folder, name);
  const [root, system] = [within("root"), within("system")];
  for (const each of [KEPT, root, join(system, "etc/ssh"), join(system, "run"), "/run/sshd"])
    mkdirSync(each, { recursive: true });
  const daemons: ChildProcess[] = [];
  const host = `unix://${within("docker.sock")}`;
  const docker = (...args: string[]): string =>
    execFileSync("docker", args, {
      env: { ...process.env, DOCKER_HOST: host },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });

  const stop = async (): Promise<void> => {
    await endJobs(root);
    try {
      if (daemons.length > 0) removeContainers(docker);
    } catch (error) {
      console.error(`Containers are left for the next run to remove: ${String(error)}`);
    }
    for (const daemon of daemons.toReversed()) await ended(daemon);
    for (const mounted of [join(root, "jobs"), within("docker/netns/default")])
      spawnSync("umount", [mounted], { stdio: "ignore" });
    rmSync(folder, { recursive: true, force: true });
  };

  try {
    daemons.push(startDocker(host, folder));
    await until("Docker", 60, () => spawnSync("docker", ["info"], { env: { ...process.env, DOCKER_HOST: host } }).status === 0);
    removeContainers(docker); // of a run that was killed
    const images = join(import.meta.dirname, "images.sh");
    execFileSync("bash", [images, join(KEPT, "images")], { env: { ...process.env, DOCKER_HOST: host }, stdio: "inherit" });
    const hostKey = keyPairOf(randomBytes(32), "machine");
    writeFileSync(within("host_key"), hostKey.private_key, { mode: 0o600 });
    writeFileSync(within("authorized_keys"), "");
    writeFileSync(
      within("sshd_config"),
      sshdConfig(folder, { DOCKER_HOST: host, ERP_HOSTING_ROOT: root, ERP_HOSTING_SYSTEM: system }),
    );
    daemons.push(spawn("/usr/sbin/sshd", ["-D", "-f", within("sshd_config"), "-E", within("sshd.log")], { stdio: "ignore" }));
    await until("sshd", 10, () => answers(SSH_PORT));
    return {
      hostKey: hostKey.public_key,
      root,
      system,
      admit: (publicKey) => writeFileSync(within("authorized_keys"), `${publicKey}\n`),
      docker,
      authority: () => docker("exec", "erp-caddy", "cat", "/data/caddy/pki/authorities/local/root.crt"),
      killJob: (operationId, step, afterSeconds) => killJob(join(root, "jobs"), `${operationId}-${step}`, afterSeconds),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function startDocker(host: string, folder: string): ChildProcess {
  const log = openSync(join(folder, "docker.log"), "w");
  const places = [
    "--data-root",
    join(KEPT, "docker"),
    "--exec-root",
    join(folder, "docker"),
    "--pidfile",
    join(folder, "docker.pid"),
  ];
  return spawn("dockerd", ["--host", host, ...places], { stdio: ["ignore", log, log] });
}

const sshdConfig = (folder: string, environment: Readonly<Record<string, string>>): string =>
  [
    `Port ${SSH_PORT}`,
    "ListenAddress 127.0.0.1",
    `HostKey ${join(folder, "host_key")}`,
    `AuthorizedKeysFile ${join(folder, "authorized_keys")}`,
    `PidFile ${join(folder, "sshd.pid")}`,
    "StrictModes no",
    "UsePAM no",
    "PermitRootLogin prohibit-password",
    "MaxStartups 100",
    `SetEnv ${Object.entries(environment)
      .map(([name, value]) => `${name}=${value}`)
      .join(" ")}`,
    "",
  ].join("\n");

/** This Docker is the chain's alone: all that it has but images goes. */
function removeContainers(docker: Machine["docker"]): void {
  const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");
  const containers = lines(docker("ps", "-aq"));
  if (containers.length > 0) docker("rm", "-fv", ...containers);
  const volumes = lines(docker("volume", "ls", "-q"));
  if (volumes.length > 0) docker("volume", "rm", ...volumes);
  docker("network", "prune", "-f");
}

/** They work on without the service. Left alone they would still be there when everything else has gone. */
async function endJobs(root: string): Promise<void> {
  const jobs = join(root, "jobs");
  if (!existsSync(jobs)) return;
  for (const job of readdirSync(jobs)) kill(join(jobs, job));
  await sleep(200);
}

/** The process group of a job that runs. A group's id is not given to another while one of its processes lives. */
function kill(job: string): boolean {
  if (!isAlive(job) || !existsSync(join(job, "pid"))) return false;
  const group = Number(readFileSync(join(job, "pid"), "utf8"));
  if (group <= 1) return false;
  process.kill(-group, "SIGKILL");
  return true;
}

const isAlive = (job: string): boolean =>
  existsSync(join(job, "alive")) && spawnSync("flock", ["-n", join(job, "alive"), "true"]).status !== 0;

async function killJob(jobs: string, prefix: string, afterSeconds: number): Promise<boolean> {
  const find = (): string | undefined =>
    existsSync(jobs) ? readdirSync(jobs).find((name) => name.startsWith(prefix) && isAlive(join(jobs, name))) : undefined;
  let name: string | undefined;
  await until(`the job ${prefix}`, 300, () => (name = find()) !== undefined, 20);
  await sleep(afterSeconds * 1000);
  return name !== undefined && kill(join(jobs, name));
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  await Promise.race([exit, sleep(30_000, undefined, { ref: false }).then(() => child.kill("SIGKILL"))]);
}

export async function until(what: string, seconds: number, isSo: () => boolean | Promise<boolean>, everyMs = 200): Promise<void> {
  const limit = Date.now() + seconds * 1000;
  while (!(await isSo())) {
    if (Date.now() > limit) throw new Error(`It took too long: ${what}`);
    await sleep(everyMs);
  }
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const connected = await Promise.race([once(socket, "connect").then(() => true), once(socket, "error").then(() => false)]).catch(
    () => false,
  );
  socket.destroy();
  return connected;
}
