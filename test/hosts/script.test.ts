// shellcheck finds no mistake in the script that runs on machines.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { hostScript } from "../../shared/hosts/host-script.ts";
import { unless } from "../harness/unless.ts";
import { hasProgram } from "./machine.ts";

const reason = hasProgram("shellcheck") ? undefined : "there is no shellcheck here";

test("shellcheck finds nothing in the script", unless(reason), () => {
  const { stdout } = spawnSync("shellcheck", ["-"], { encoding: "utf8", input: hostScript() });
  expect(stdout).toBe("");
});
