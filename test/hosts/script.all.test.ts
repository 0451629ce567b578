// The script that runs on machines: shellcheck finds no mistake in it, and its programs fit where they are passed.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { filesProgram, hostScript, watchProgram } from "../../shared/hosts/host-script.ts";

test.each([
  ["the script", hostScript()],
  ["the timer's program", watchProgram()],
])("shellcheck finds nothing in %s, except for the mistake that the test adds at its end", (_, script) => {
  const command = [join(import.meta.dirname, "shellcheck.ts")];
  const input = `${script}rm $1\n`;
  const { stdout, stderr, status } = spawnSync(process.execPath, command, { encoding: "utf8", input });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toMatch(/^\d+: SC2086 \(info\) Double quote .*\n$/);
});

/** Linux's MAX_ARG_STRLEN, with room for a few changes. */
const ARGUMENT_BYTES = 120 * 1024;

test("the program that works on files fits into an argument", () => {
  expect(Buffer.byteLength(filesProgram())).toBeLessThan(ARGUMENT_BYTES);
});
