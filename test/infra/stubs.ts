// Bundles with nothing in them: what a template says does not depend on what functions do.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { ENTRIES } from "../../infra/bundle.ts";

/** A folder that is removed at the end of the calling file. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "erp-infra-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
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
