// The machine of the chain: this one, with its own Docker and sshd in separate namespaces. Images stay for the next run.
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { connect } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hostScript } from "../../shared/hosts/host-script.ts";
import { createKeyPair } from "../../shared/platform/key-pair.ts";

const KEPT = resolve(import.meta.dirname, "../../.local/erp");
const IMAGES = ["odoo:19.0", "pgvector/pgvector:pg16", "caddy:2", "nginx:1.28"];
const PROGRAMS = [
  "dockerd",
  "docker",
  "debootstrap",
  "sshd",
  "nft",
  "ip",
  "unshare",
  "shellcheck",
  "flock",
  "unzip",
  "jq",
  "curl",
];
export const SSH_PORT = 2422;

export interface Machine {
  hostKey: string;
  /** Replaces /var/lib/erp-hosting. */
  root: string;
  /** A prefix for /etc and /root, which protects this machine's own files. */
  system: string;
  /** Authorizes this key for root. */
  admit: (publicKey: string) => void;
  docker: (...args: string[]) => string;
  /** Runs a command of the newest script on it, as an operator does there (docs/live.md). */
  script: (...args: string[]) => string;
  /** The environment of programs that use its Docker. */
  environment: NodeJS.ProcessEnv;
  /** Jobs find so many bytes free on Docker's disk, until what is returned is called. */
  leaveFree: (bytes: number) => () => void;
  /** Ends its programs; those that start from now on find that the machine has rebooted. */
  boot: () => Promise<void>;
  /** Whether a job has ordered its reboot. */
  isToReboot: () => boolean;
  /** Stops Docker, and starts it again after a while. Containers keep running. */
  withoutDocker: (seconds: number) => Promise<void>;
  /** Kills Docker, with the containers that it runs or without them. Starts it again with what is returned. */
  killDocker: (options: { containers: boolean }) => Promise<() => Promise<void>>;
  /** The same of the whole machine: nothing responds. */
  die: () => Promise<() => Promise<void>>;
  /** The certificate authority of the proxy. */
  authority: () => string;
  /** Kills the operation's job as soon as the machine works on it; returns whether it was in the middle of it. */
  killJob: (operationId: string, step: string, afterSeconds: number) => Promise<boolean>;
  /** Whether a job of the operation is running. */
  isWorking: (operationId: string) => boolean;
  stop: () => Promise<void>;
}

/** What is missing, in words; undefined if nothing is. */
export function missing(more: readonly string[] = []): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "It needs Linux, and root.";
  const path = (process.env["PATH"] ?? "").split(":").concat("/usr/local/sbin", "/usr/sbin", "/sbin");
  const has = (name: string): boolean => path.some((folder) => existsSync(join(folder, name)));
  const absent = [...PROGRAMS, ...more].filter((name) => !has(name));
  // Compose is a separate program or a plugin of Docker.
  const compose = has("docker-compose") || spawnSync("docker", ["compose", "version"]).status === 0;
  if (!compose) absent.push("docker-compose");
  if (absent.length === 0) return undefined;
  return `These are missing: ${absent.join(", ")}. On Debian: apt-get install docker.io docker-compose debootstrap openssh-server nftables iproute2 shellcheck unzip jq curl${more.length === 0 ? "" : " postgresql-client zip"}`;
}

/** Docker starts whatever a killed run left behind, including networks: it does so outside this machine's own network. */
export async function prepareImages(folder: string): Promise<void> {
  mkdirSync(KEPT, { recursive: true });
  const complete = await withDocker(folder, ["--net", "--mount"], (env) => {
    removeContainers((...args) => execFileSync("docker", args, { env, encoding: "utf8" }));
    return spawnSync("docker", ["image", "inspect", ...IMAGES], { env }).status === 0;
  });
  if (complete) return;
  console.log("The images are built, which takes some minutes …");
  await withDocker(folder, ["--mount"], (env) =>
    execFileSync("bash", [join(import.meta.dirname, "images.sh"), join(KEPT, "images")], { env, stdio: "inherit" }),
  );
}

/** Runs Docker without a bridge and rules: builds use the existing network. Its mounts are its own, and end with it. */
async function withDocker<T>(folder: string, namespaces: readonly string[], work: (env: NodeJS.ProcessEnv) => T): Promise<T> {
  const host = `unix://${join(folder, "building.sock")}`;
  const env = { ...process.env, DOCKER_HOST: host };
  const options = ["--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-forward=false"];
  const daemon = startDocker(host, folder, options, ["unshare", ...namespaces]);
  try {
    await until("Docker", 60, () => spawnSync("docker", ["info"], { env }).status === 0);
    return work(env);
  } finally {
    await ended(daemon);
  }
}

export async function startMachine(folder: string): Promise<Machine> {
  const within = (name: string): string => join(folder, name);
  const [root, system] = [within("root"), within("system")];
  execFileSync("ip", ["link", "set", "lo", "up"]);
  // A server's root does not have this user's files, and bash reads them for every command over SSH.
  const bashrc = join(homedir(), ".bashrc");
  if (existsSync(bashrc)) execFileSync("mount", ["--bind", "/dev/null", bashrc]);
  for (const each of [root, join(system, "etc/ssh"), join(system, "run"), "/run/sshd"]) mkdirSync(each, { recursive: true });
  symlinkSync(within("docker.pid"), join(system, "run/docker.pid")); // where the script expects it
  const daemons: ChildProcess[] = [];
  const host = `unix://${within("docker.sock")}`;
  const environment = { ...process.env, DOCKER_HOST: host };
  const hosting = {
    ERP_HOSTING_ROOT: root,
    ERP_HOSTING_SYSTEM: system,
    PATH: `${within("commands")}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
  };
  const docker = (...args: string[]): string =>
    execFileSync("docker", args, {
      env: environment,
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
  };

  try {
    const configuration = configureDocker(folder, system);
    const start = async (): Promise<void> => {
      daemons.unshift(startDocker(host, folder, ["--config-file", configuration]));
      await until("Docker", 60, () => spawnSync("docker", ["info"], { env: environment }).status === 0);
    };
    await start();
    removeContainers(docker); // left by a killed run
    const hostKey = createKeyPair(randomBytes(32), "machine");
    writeFileSync(within("host_key"), hostKey.private_key, { mode: 0o600 });
    writeFileSync(within("authorized_keys"), "");
    // This machine must not get a server's packages, or reboot: the stand-ins report that all are installed, and new.
    mkdirSync(within("commands"));
    for (const name of ["dpkg", "apt-get"]) writeFileSync(within(`commands/${name}`), "#!/bin/sh\n", { mode: 0o755 });
    writeFileSync(within("commands/shutdown"), `#!/bin/sh\ntouch ${within("to-reboot")}\n`, { mode: 0o755 });
    const boot = (): void => writeFileSync(join(system, "proc/sys/kernel/random/boot_id"), `${randomUUID()}\n`);
    mkdirSync(join(system, "proc/sys/kernel/random"), { recursive: true });
    boot();
    writeFileSync(
      within("sshd_config"),
      sshdConfig(folder, {
        DOCKER_HOST: host,
        ...hosting,
      }),
    );
    const listen = async (): Promise<void> => {
      daemons.push(spawn("/usr/sbin/sshd", ["-D", "-f", within("sshd_config"), "-E", within("sshd.log")], { stdio: "ignore" }));
      await until("sshd", 10, () => isListening(SSH_PORT));
    };
    await listen();
    const killDocker: Machine["killDocker"] = async ({ containers }) => {
      const running = containers ? linesIn(docker("ps", "-q")) : [];
      const processes = running.length === 0 ? [] : linesIn(docker("inspect", "-f", "{{.State.Pid}}", ...running)).map(Number);
      const [daemon] = daemons.splice(0, 1);
      if (daemon !== undefined) await ended(daemon, "SIGKILL");
      for (const pid of processes) process.kill(pid, "SIGKILL");
      await until("the containers end", 30, () => processes.every((pid) => !existsSync(`/proc/${pid}`)));
      return start;
    };
    return {
      hostKey: hostKey.public_key,
      root,
      system,
      admit: (publicKey) => writeFileSync(within("authorized_keys"), `${publicKey}\n`),
      docker,
      script: (...args) => {
        const newest = 'exec bash "$(ls -t "$ERP_HOSTING_ROOT"/script-*.sh | head -n 1)" "$@"';
        const env = { ...environment, ...hosting };
        return execFileSync("bash", ["-c", newest, "script", ...args], { env, encoding: "utf8" });
      },
      environment,
      leaveFree: (bytes) => {
        const place = docker("info", "-f", "{{.DockerRootDir}}").trim();
        const dfArguments = `"--output=avail -B1 ${place}"`;
        const script = `#!/bin/sh\nif [ "$*" = ${dfArguments} ]; then echo Avail; echo ${bytes}; else exec /usr/bin/df "$@"; fi\n`;
        writeFileSync(within("commands/df"), script, { mode: 0o755 });
        return () => rmSync(within("commands/df"));
      },
      withoutDocker: async (seconds) => {
        const [daemon] = daemons.splice(0, 1);
        if (daemon !== undefined) await ended(daemon);
        await sleep(seconds * 1000);
        await start();
      },
      boot: async () => {
        await endJobs(root);
        rmSync(within("to-reboot"), { force: true });
        boot();
      },
      isToReboot: () => existsSync(within("to-reboot")),
      killDocker,
      die: async () => {
        const startAgain = await killDocker({ containers: true });
        for (const daemon of daemons.splice(0)) await ended(daemon, "SIGKILL");
        return async () => {
          await listen();
          await startAgain();
        };
      },
      authority: () => docker("exec", "erp-caddy", "cat", "/data/caddy/pki/authorities/local/root.crt"),
      isWorking: (operationId) => {
        const jobs = join(root, "jobs");
        return existsSync(jobs) && readdirSync(jobs).some((name) => name.startsWith(operationId) && isAlive(join(jobs, name)));
      },
      killJob: (operationId, step, afterSeconds) => killJob(join(root, "jobs"), `${operationId}-${step}`, afterSeconds),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function startDocker(host: string, folder: string, options: readonly string[], within: readonly string[] = []): ChildProcess {
  const log = openSync(join(folder, "docker.log"), "w");
  const places = [
    "--data-root",
    join(KEPT, "docker"),
    "--exec-root",
    join(folder, "docker"),
    "--pidfile",
    join(folder, "docker.pid"),
  ];
  const [program = "", ...words] = [...within, "dockerd", "--host", host, ...places, ...options];
  return spawn(program, words, { stdio: ["ignore", log, log] });
}

/**
 * Configures Docker as the first job would: the user who starts it here may not be able to restart it. Returns the file's path.
 */
function configureDocker(folder: string, system: string): string {
  const script = join(folder, "script.sh");
  writeFileSync(script, hostScript());
  const evaluate = (code: string): unknown =>
    JSON.parse(execFileSync("bash", ["-c", `source "$0" probe >/dev/null; ${code}`, script], { encoding: "utf8" }));
  const ipv6 = evaluate("if has_ipv6; then echo true; else echo false; fi") === true;
  const file = join(system, "etc/docker/daemon.json");
  mkdirSync(join(system, "etc/docker"), { recursive: true });
  const configuration = { "live-restore": true, "default-address-pools": evaluate("address_pools") };
  writeFileSync(file, JSON.stringify({ ...configuration, ...(ipv6 && { ip6tables: true, experimental: true }) }));
  return file;
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

/** This Docker belongs to the chain: everything except its images is deleted. */
function removeContainers(docker: Machine["docker"]): void {
  const containers = linesIn(docker("ps", "-aq"));
  if (containers.length > 0) docker("rm", "-fv", ...containers);
  const volumes = linesIn(docker("volume", "ls", "-q"));
  if (volumes.length > 0) docker("volume", "rm", ...volumes);
  docker("network", "prune", "-f");
}

const linesIn = (text: string): string[] => text.split("\n").filter((line) => line !== "");

/** Jobs continue without the service. Left alone, they would outlive everything else. */
async function endJobs(root: string): Promise<void> {
  const jobs = join(root, "jobs");
  if (!existsSync(jobs)) return;
  for (const job of readdirSync(jobs)) kill(join(jobs, job));
  await sleep(200);
}

/** The process group of a running job. The system does not reuse a group's ID while one of its processes lives. */
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

async function ended(child: ChildProcess, signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill(signal);
  await Promise.race([exit, sleep(30_000, undefined, { ref: false }).then(() => child.kill("SIGKILL"))]);
}

export async function until(
  condition: string,
  seconds: number,
  isTrue: () => boolean | Promise<boolean>,
  everyMs = 200,
): Promise<void> {
  const limit = Date.now() + seconds * 1000;
  while (!(await isTrue())) {
    if (Date.now() > limit) throw new Error(`It took too long: ${condition}`);
    await sleep(everyMs);
  }
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const connected = await Promise.race([once(socket, "connect").then(() => true), once(socket, "error").then(() => false)]).catch(
    () => false,
  );
  socket.destroy();
  return connected;
}
