// The script that runs on machines is free of what shellcheck knows to be mistakes.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { hostScript } from "../../shared/hosts/host-script.ts";
import { hasProgram } from "./machine.ts";

const here = hasProgram("shellcheck");
if (!here) console.warn("The script is not checked: there is no shellcheck here");

test.skipIf(!here)("shellcheck has nothing to say of the script", () => {
  const { stdout } = spawnSync("shellcheck", ["-"], { encoding: "utf8", input: hostScript() });
  expect(stdout).toBe("");
});
