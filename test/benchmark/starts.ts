// What a cold start costs: the CPU time and memory of a process that loads a function, over one that loads an empty handler,
// beside AWS's own example. All take turns, so that they meet the same noise, and CPU time is what other work on the machine
// changes least.
import { execFile } from "node:child_process";
import { cp, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import * as z from "zod";
import { ROOT } from "../../infra/built.ts";
import { median, tableOf } from "./figures.ts";

const ROUNDS = 21;
const PEERS = join(import.meta.dirname, "peers");
const EMPTY = "an empty handler";
const PEER = "serverless-typescript-demo";

/** One of each kind, by the IDs of the bundles. */
const FUNCTIONS = [
  "authorize",
  "servers.get",
  "servers.list",
  "backups.download",
  "servers.create",
  "instances.create",
  "instances.act",
  "auth.login",
  "tasks.create-server",
  "tasks.create-backup",
  "schedules.check-servers",
] as const;

const run = promisify(execFile);

/** The peer, bundled as its own project does it, from the versions that it has in its lock file. */
async function buildPeer(folder: string): Promise<string> {
  const installed = join(folder, "peers");
  await mkdir(installed, { recursive: true });
  await cp(PEERS, installed, { recursive: true });
  const [lock, installedLock] = await Promise.all([
    readFile(join(PEERS, "package-lock.json"), "utf8"),
    readFile(join(installed, "installed"), "utf8").catch(() => ""),
  ]);
  if (lock !== installedLock) {
    console.log("Installing the peer's packages …");
    await run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: installed });
    await writeFile(join(installed, "installed"), lock);
  }
  const outfile = join(installed, "dist", "get-product.js");
  await build({
    entryPoints: [join(installed, "get-product.mjs")],
    outfile,
    bundle: true,
    minify: true,
    platform: "node",
    target: "node24",
    logLevel: "error",
  });
  await writeFile(join(installed, "dist", "package.json"), '{ "type": "commonjs" }');
  return outfile;
}

const Loaded = z.object({ cpu: z.number(), rss: z.number() });

/** CPU milliseconds of a whole process that loads a module, and its megabytes then. */
async function load(file: string): Promise<z.infer<typeof Loaded>> {
  const code = `
    await import(${JSON.stringify(pathToFileURL(file).href)});
    const { user, system } = process.cpuUsage();
    process.stdout.write(JSON.stringify({ cpu: (user + system) / 1000, rss: process.memoryUsage.rss() / 1e6 }));
    process.exit();`;
  const env = { AWS_REGION: "eu-central-1", AWS_LAMBDA_FUNCTION_NAME: "bench", AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x" };
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", code], { env });
  return Loaded.parse(JSON.parse(stdout));
}

/** The table of all functions in `FUNCTIONS` beside the peer, which is 1.00. */
export async function starts(bundles: string): Promise<string> {
  const folder = join(ROOT, ".local", "bench");
  const peer = await buildPeer(folder);
  const empty = join(folder, "empty.mjs");
  await writeFile(empty, "export const handler = async () => undefined;\n");
  const files = new Map<string, string>([
    [EMPTY, empty],
    [PEER, peer],
    ...FUNCTIONS.map((id) => [id, join(bundles, id, "index.mjs")] as const),
  ]);
  const measured = new Map([...files.keys()].map((name) => [name, { cpu: [] as number[], rss: [] as number[] }]));
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, file] of files) {
      const { cpu, rss } = await load(file);
      measured.get(name)?.cpu.push(cpu);
      measured.get(name)?.rss.push(rss);
    }
  const over = (name: string, figure: "cpu" | "rss"): number =>
    median(measured.get(name)?.[figure] ?? []) - median(measured.get(EMPTY)?.[figure] ?? []);
  const rows = [PEER, ...FUNCTIONS].map(async (name) => {
    const { size } = await stat(files.get(name) ?? "");
    const ratio = over(name, "cpu") / over(PEER, "cpu");
    return [name, (size / 1000).toFixed(0), over(name, "cpu").toFixed(0), ratio.toFixed(2), over(name, "rss").toFixed(1)];
  });
  const head = ["Start, over an empty handler", "KB", "CPU ms", "Ratio", "Memory, MB"];
  return tableOf(head, await Promise.all(rows));
}
