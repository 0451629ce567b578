// The script that does all work on a machine, assembled from its parts. Bundles contain its text: infra/bundle.ts.
import { readFileSync } from "node:fs";
import { ARCHIVE_RULES } from "./archive-rules.ts";
import { SERVER_STATEMENTS } from "./server-statements.ts";

/** The first part has what all others use; the last runs the requested command. */
const PARTS = [
  "jobs",
  "instance",
  "pull",
  "files",
  "modules",
  "install",
  "run",
  "page",
  "proxy",
  "buffer",
  "disk",
  "backup",
  "restore",
  "clone",
  "drill",
  "import",
  "machine",
  "firewall",
  "timer",
  "report",
  "main",
];

export const hostScript = (): string =>
  [
    ...PARTS.slice(0, -1).map(partOf),
    filesProgramPart(),
    modulesProgramPart(),
    watchProgramPart(),
    ...PARTS.slice(-1).map(partOf),
  ].join("\n");

const partOf = (part: string): string => textOf(`${part}.sh`);
const textOf = (file: string): string => readFileSync(new URL(`script/${file}`, import.meta.url), "utf8");

/** The parts of the program that works on files and archives in a container. One uses what those before it define. */
const FILES_PARTS = ["links", "layout", "archive", "reader", "dump", "statements", "commands"];

export const filesProgram = (): string => [tables(), ...FILES_PARTS.map((part) => textOf(`files/${part}.py`))].join("\n\n");

const tables = (): string =>
  `import json\n\nRULES = ${inPython(ARCHIVE_RULES)}\nSERVER_STATEMENTS = ${inPython(SERVER_STATEMENTS)}\n`;
const inPython = (value: unknown): string => `json.loads(${JSON.stringify(JSON.stringify(value))})`;

/** The machine's own shell never runs it. */
const filesProgramPart = (): string => programPart("files", filesProgram());

const modulesProgramPart = (): string => programPart("modules", textOf("modules.py"));

/** A function that prints the program. */
const programPart = (name: string, program: string): string => `${name}_program() {\n  cat <<'PROGRAM'\n${program}PROGRAM\n}\n`;

/** What the machine's timer runs each minute: a small program of its own. */
export const watchProgram = (): string => `#!/usr/bin/env bash\nset -euo pipefail\n${partOf("page")}${partOf("watch")}`;

const watchProgramPart = (): string => programPart("watch", watchProgram());
