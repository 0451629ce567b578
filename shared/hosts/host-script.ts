// The script that does all work on a machine, put together from its parts. Bundles have its text in them: infra/bundle.ts.
import { readFileSync } from "node:fs";

/** The first has what all others use; the last does what was asked for. */
const PARTS = ["jobs", "instance", "install", "run", "proxy", "backup", "restore", "clone", "machine", "main"];

export const hostScript = (): string =>
  PARTS.map((part) => readFileSync(new URL(`script/${part}.sh`, import.meta.url), "utf8")).join("\n");
