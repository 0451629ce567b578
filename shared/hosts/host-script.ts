// The script that does all work on a machine, assembled from its parts. Bundles contain its text: infra/bundle.ts.
import { readFileSync } from "node:fs";
import { archiveRulesInEnglish } from "./archive-rules.ts";
import * as statements from "./server-statements.ts";

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
  "code",
  "builder",
  "rehearse",
  "deploy",
  "import",
  "machine",
  "update",
  "firewall",
  "timer",
  "report",
  "logs",
  "main",
];

export const hostScript = (): string =>
  [
    ...PARTS.slice(0, -1).map(readPart),
    filesProgramPart(),
    modulesProgramPart(),
    programPart("code", readText("code.py")),
    watchProgramPart(),
    programPart("sample", sampleProgram()),
    ...PARTS.slice(-1).map(readPart),
  ].join("\n");

const readPart = (part: string): string => readText(`${part}.sh`);
const readText = (file: string): string => readFileSync(new URL(`script/${file}`, import.meta.url), "utf8");

/** The modules of the program that works on files and archives in a container. Each imports only what is before it. */
const FILES_MODULES = ["links", "layout", "archive", "reader", "dump", "statements", "commands"];

/** One text, because it is passed to Python as an argument: it makes the modules, then runs the code. */
export const filesProgram = (code = "import commands\n\ncommands.main(*sys.argv[1:])"): string => {
  const sources = FILES_MODULES.map((name) => verbatim(name, readText(`files/${name}.py`)));
  return `import sys
import types

SOURCES = {
${verbatim("tables", tables())}${sources.join("")}}
for name, source in SOURCES.items():
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(source, f"{name}.py", "exec"), module.__dict__)

${code}
`;
};

/** Python's raw texts have no escapes: a module's source stands in the program as it is. */
function verbatim(name: string, source: string): string {
  if (source.includes("'''")) throw new Error(`${name} contains ''', which would end it in the program`);
  return `    "${name}": r'''${source}''',\n`;
}

const tables = (): string =>
  `import json\n\n${Object.entries({ RULES: archiveRulesInEnglish(), ...statements })
    .map(([name, value]) => `${name} = ${inPython(value)}\n`)
    .join("")}`;
/** JSON has no three quotes in a row, and does not end with a backslash: it stands in a raw text as it is. */
const inPython = (value: unknown): string => `json.loads(r"""${JSON.stringify(value)}""")`;

/** The machine's own shell never runs it. */
const filesProgramPart = (): string => programPart("files", filesProgram());

const modulesProgramPart = (): string => programPart("modules", readText("modules.py"));

/** A function that prints the program. */
const programPart = (name: string, program: string): string => `${name}_program() {\n  cat <<'PROGRAM'\n${program}PROGRAM\n}\n`;

/** What the machine's timer runs each minute: a small program of its own. */
export const watchProgram = (): string => `#!/usr/bin/env bash\nset -euo pipefail\n${readPart("page")}${readPart("watch")}`;

/** The program by which the timer measures the machine. */
export const sampleProgram = (): string => readText("sample.pl");

const watchProgramPart = (): string => programPart("watch", watchProgram());
