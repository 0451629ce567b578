// The script that does all work on a machine, assembled from its parts. Bundles contain its text: infra/bundle.ts.
import { readFileSync } from "node:fs";

/** The first part has what all others use; the last runs the requested command. */
const PARTS = [
  "jobs",
  "instance",
  "files",
  "install",
  "run",
  "proxy",
  "backup",
  "restore",
  "clone",
  "drill",
  "import",
  "machine",
  "report",
  "main",
];

export const hostScript = (): string =>
  [...PARTS.slice(0, -1).map(partOf), filesProgram(), ...PARTS.slice(-1).map(partOf)].join("\n");

const partOf = (part: string): string => textOf(`${part}.sh`);
const textOf = (file: string): string => readFileSync(new URL(`script/${file}`, import.meta.url), "utf8");

/** What runs in a container, not by the script's own shell. */
const filesProgram = (): string => `files_program() {\n  cat <<'PROGRAM'\n${textOf("files.py")}PROGRAM\n}\n`;
