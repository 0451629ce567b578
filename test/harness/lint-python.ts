// Checks the Python that runs on machines: its format, and what ruff finds in it. With --write, formats it. Ruff's WebAssembly
// build comes from npm, has no command, and sees one text at a time.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PositionEncoding, Workspace } from "@astral-sh/ruff-wasm-nodejs";
import * as z from "zod";
import { ROOT } from "./rounds.ts";

const SETTINGS = {
  "line-length": 130,
  "target-version": "py310", // pyrightconfig.json says why
  lint: {
    select: [
      "A",
      "ARG",
      "B",
      "BLE",
      "C4",
      "DTZ",
      "E",
      "F",
      "FURB",
      "I",
      "N",
      "PERF",
      "PIE",
      "PL",
      "RET",
      "RSE",
      "RUF",
      "SIM",
      "UP",
      "W",
    ],
    ignore: [
      "N818", // exceptions are named as what they say
      "PLR", // counts of branches, arguments and numbers
      "SIM115", // a program of one command has its files open to its end
    ],
  },
};
const Faults = z.array(
  z.object({ code: z.string().nullable(), message: z.string(), start_location: z.object({ row: z.number() }) }),
);

const { write } = parseArgs({ options: { write: { type: "boolean", default: false } } }).values;
const workspace = new Workspace(SETTINGS, PositionEncoding.Utf16);
for (const file of globSync("shared/hosts/script/**/*.{py,pyi}", { cwd: ROOT })) {
  const text = readFileSync(join(ROOT, file), "utf8");
  const faults = Faults.parse(workspace.check(text)).map(
    ({ code, message, start_location: { row } }) => `${file}:${row}: ${code ?? "syntax"}: ${message}`,
  );
  const formatted = workspace.format(text);
  if (write) writeFileSync(join(ROOT, file), formatted);
  else if (formatted !== text) faults.push(`${file}: not formatted; \`npm run format\` does that`);
  for (const fault of faults) console.log(fault);
  if (faults.length > 0) process.exitCode = 1;
}
