// The synthesized templates of the current sources: rebuilt if something changed, else those of the last time.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ROOT } from "../../built.ts";
import { readCommit } from "../../commit.ts";
import { HOUR_MS } from "../../../shared/domain/durations.ts";
import type { Environment } from "../../../shared/domain/environments.ts";

/** The folder of the templates for these bundles. Loading the CDK takes seconds, so this does it only if necessary. */
export async function synthIfChanged(bundles: string, environments: readonly Environment[]): Promise<string> {
  const outDir = join(bundles, "..", "..", "synthesized", `${basename(bundles)}-${fingerprint()}-${environments.join("-")}`);
  if (existsSync(join(outDir, "manifest.json"))) {
    touch(outDir);
    return outDir;
  }
  const { synth } = await import("../../app.ts");
  const draft = `${outDir}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  await synth(draft, environments, { bundles, checked: false });
  if (!existsSync(join(outDir, "manifest.json"))) rmSync(outDir, { recursive: true, force: true }); // what is left of one
  try {
    renameSync(draft, outDir);
  } catch (error) {
    // Another process was faster and may already read its result, which is the same.
    if (!existsSync(join(outDir, "manifest.json"))) throw error;
    rmSync(draft, { recursive: true, force: true });
  }
  removeOlder(dirname(outDir));
  return outDir;
}

/** A running service loads its functions from there as long as it runs, and touches the folder each hour. */
const KEPT_HOURS = 24;

export const keepFresh = (outDir: string): void => void setInterval(touch, HOUR_MS, outDir).unref();

function touch(outDir: string): void {
  if (existsSync(outDir)) utimesSync(outDir, new Date(), new Date());
}

function removeOlder(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const stats = statSync(path, { throwIfNoEntry: false }); // another process may have moved or removed it meanwhile
    if (stats !== undefined && Date.now() - stats.mtimeMs > KEPT_HOURS * HOUR_MS) rmSync(path, { recursive: true, force: true });
  }
}

/**
 * The fingerprint of what determines the templates besides the bundles: the commit, and the CDK code, which also reads the route
 * and workflow tables.
 */
function fingerprint(): string {
  const hash = createHash("sha256")
    .update(readFileSync(join(ROOT, "package-lock.json")))
    .update(String(readCommit()));
  for (const name of readdirSync(join(ROOT, "infra")).toSorted())
    if (name.endsWith(".ts")) hash.update(name).update(readFileSync(join(ROOT, "infra", name)));
  return hash.digest("hex").slice(0, 12);
}
