// The program that works on files and archives in a container, as tests drive it.
import { filesProgram } from "../../shared/hosts/host-script.ts";

const MODULES = ["links", "layout", "archive", "reader", "dump", "statements", "commands"];

/** It runs this code, which has all that the modules define, instead of a command. */
export const drivenProgram = (code: string): string =>
  filesProgram(
    [`import ${MODULES.join(", ")}`, ...MODULES.map((name) => `from ${name} import *`), "import json", code].join("\n"),
  );
