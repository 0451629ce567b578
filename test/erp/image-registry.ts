// A registry of images beside the machine: Debian's docker-registry, which the machine and the service use as their mirror.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Machine } from "./machine.ts";
import { until } from "./machine.ts";

/** Docker takes one on this machine without TLS. */
export const MIRROR = "127.0.0.1:5000";
const PROGRAM = "/usr/bin/docker-registry";

export interface ImageRegistry {
  /** The image that the machine had before for each name, and the newer one of the registry, both by their IDs. */
  before: readonly string[];
  newest: readonly string[];
  stop: () => void;
}

/** Starts a registry with newer images of these names than the machine has. */
export async function startImageRegistry({ docker, environment }: Machine, names: readonly string[]): Promise<ImageRegistry> {
  assert(existsSync(PROGRAM), "docker-registry is missing. On Debian: apt-get install docker-registry");
  const folder = mkdtempSync(join(tmpdir(), "registry-"));
  const configuration = { version: "0.1", storage: { filesystem: { rootdirectory: folder } }, http: { addr: MIRROR } };
  writeFileSync(join(folder, "config.yml"), JSON.stringify(configuration)); // JSON is YAML
  const registry = spawn(PROGRAM, ["serve", join(folder, "config.yml")], { stdio: "ignore" });
  const idOf = (image: string): string => docker("image", "inspect", "-f", "{{.Id}}", image).trim();
  await until("the registry", 10, () => spawnSync("curl", ["-sf", `http://${MIRROR}/v2/`]).status === 0);
  const before = names.map(idOf);
  const newest = names.map((name) => {
    const pulled = name.includes("/") ? `${MIRROR}/${name}` : `${MIRROR}/library/${name}`;
    writeFileSync(join(folder, "Dockerfile"), `FROM ${name}\nLABEL newer=${Date.now()}\n`);
    docker("build", "-q", "-t", pulled, "-f", join(folder, "Dockerfile"), folder);
    const id = idOf(pulled);
    const pushed = spawnSync("docker", ["push", "-q", pulled], { env: environment, encoding: "utf8" });
    assert.equal(pushed.status, 0, pushed.stderr);
    docker("image", "rm", pulled); // it comes by a pull
    return id;
  });
  return {
    before,
    newest,
    stop: () => {
      registry.kill("SIGKILL");
      for (const [index, name] of names.entries()) docker("tag", before[index] ?? "", name);
      spawnSync("docker", ["image", "rm", "-f", ...newest], { env: environment });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
