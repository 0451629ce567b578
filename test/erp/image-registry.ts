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
const NAME = "odoo:19.0";

export interface ImageRegistry {
  /** The image that the machine had before, and the newer one that the registry has; both by their ids. */
  before: string;
  newest: string;
  stop: () => void;
}

/** With a newer image of the ERP than the machine has. */
export async function startImageRegistry({ docker, environment }: Machine): Promise<ImageRegistry> {
  assert(existsSync(PROGRAM), "docker-registry is missing. On Debian: apt-get install docker-registry");
  const folder = mkdtempSync(join(tmpdir(), "registry-"));
  const configuration = { version: "0.1", storage: { filesystem: { rootdirectory: folder } }, http: { addr: MIRROR } };
  writeFileSync(join(folder, "config.yml"), JSON.stringify(configuration)); // JSON is YAML
  const registry = spawn(PROGRAM, ["serve", join(folder, "config.yml")], { stdio: "ignore" });
  const idOf = (image: string): string => docker("image", "inspect", "-f", "{{.Id}}", image).trim();
  const name = `${MIRROR}/library/${NAME}`;
  const before = idOf(NAME);
  await until("the registry", 10, () => spawnSync("curl", ["-sf", `http://${MIRROR}/v2/`]).status === 0);
  writeFileSync(join(folder, "Dockerfile"), `FROM ${NAME}\nLABEL newer=${Date.now()}\n`);
  docker("build", "-q", "-t", name, "-f", join(folder, "Dockerfile"), folder);
  const newest = idOf(name);
  const pushed = spawnSync("docker", ["push", "-q", name], { env: environment, encoding: "utf8" });
  assert.equal(pushed.status, 0, pushed.stderr);
  docker("image", "rm", name); // it comes by a pull
  return {
    before,
    newest,
    stop: () => {
      registry.kill("SIGKILL");
      docker("tag", before, NAME);
      spawnSync("docker", ["image", "rm", "-f", newest], { env: environment });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
