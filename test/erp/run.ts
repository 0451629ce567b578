// `npm run test:erp`: the live environment with real parts on this machine: sshd, Docker, PostgreSQL, Odoo, Caddy. Needs root.
// With names of parts of chain.ts, such as `-- moveIn`, it runs only those; the long ones run only by name. With `-- --measure`
// it only measures: backups, restores and deploys of 1 GB, compared to plain tools, and what a sample of the machine costs.
//
// It runs in its own namespaces (network, mounts, processes): it does not touch rules, bridges, ports or mounts of this machine,
// and nothing outlives the first of its processes, however that ends.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chain } from "./chain.ts";
import { missing, prepareImages, startMachine } from "./machine.ts";
import { measure } from "./measure.ts";
import { startService } from "./service.ts";

/** The folder for everything that the test creates except the images: the namespaces have no network to build them with. */
const FOLDER = "ERP_TEST_FOLDER";
const MEASURE = process.argv.includes("--measure");
const PARTS = process.argv.slice(2).filter((each) => !each.startsWith("--"));

async function outside(): Promise<number> {
  const reason = missing(MEASURE ? ["pg_dump", "psql", "zip"] : []);
  if (reason !== undefined) {
    console.error(`This test cannot run here. ${reason}`);
    return 1;
  }
  const folder = mkdtempSync(join(tmpdir(), "erp-"));
  try {
    await prepareImages(folder);
    const namespaces = ["--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"];
    // The first process must collect what orphans leave: Docker takes its killed containerd for running until somebody does.
    const first = ["bash", "-c", '"$@"; exit $?', "first"];
    const inner = [...first, process.execPath, ...process.execArgv, ...process.argv.slice(1)];
    const env = { ...process.env, [FOLDER]: folder };
    const child = spawn("unshare", [...namespaces, ...inner], { stdio: "inherit", env });
    // When the first process ends, everything in its namespaces ends; the run is over when all of it has ended.
    const kill = (): void => {
      if (child.exitCode !== null) return;
      const first = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8"));
      if (first > 0) process.kill(first, "SIGKILL");
    };
    for (const signal of ["SIGINT", "SIGTERM", "disconnect"]) process.on(signal, kill);
    const [code] = await once(child, "exit");
    return code === 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function inside(folder: string): Promise<number> {
  const stops: (() => Promise<void>)[] = [];
  const began = performance.now();
  try {
    const machine = await startMachine(folder);
    stops.push(machine.stop);
    const service = await startService(machine, folder, { timeScale: MEASURE ? 1 : 0.1 });
    stops.push(service.stop);
    console.log(`Ready after ${seconds(began)} s\n`);
    const { passed, failed } = MEASURE ? await measure(machine, service, folder) : await chain(machine, service, PARTS);
    console.log(`\n${seconds(began)} s\n${passed} passed, ${failed} failed`);
    return failed > 0 || passed === 0 ? 1 : 0;
  } finally {
    for (const stop of stops.toReversed()) await stop().catch((error: unknown) => console.error(error));
  }
}

const seconds = (since: number): string => ((performance.now() - since) / 1000).toFixed(0);

const folder = process.env[FOLDER];
if (folder !== undefined) mkdirSync(folder, { recursive: true });
process.exitCode = folder === undefined ? await outside() : await inside(folder);
// The channel to the parent would keep the process alive.
process.removeAllListeners("disconnect");
if (process.connected) process.disconnect();
