// Empty bundles: a template does not depend on what functions do.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { ENTRIES } from "../../infra/bundle.ts";

/** A folder that is removed after the calling file. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "erp-infra-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A dashboard of one page and one script. */
export function stubDashboard(): string {
  const folder = scratch();
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "index.html"), '<!doctype html><script src="/assets/index-1.js"></script>');
  writeFileSync(join(folder, "assets", "index-1.js"), "");
  return folder;
}

export function stubBundles(): string {
  const folder = scratch();
  for (const id of Object.keys(ENTRIES)) {
    mkdirSync(join(folder, id));
    writeFileSync(join(folder, id, "index.mjs"), `export const handler = async () => "${id}";`);
  }
  return folder;
}
