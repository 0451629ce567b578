// The operator's commands in processes of their own: without a service, and what they print as their usage.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { scratch } from "../infra/stubs.ts";

test.each([
  [
    "is stopped",
    {
      AWS_ENDPOINT_URL: "http://127.0.0.1:1",
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: "a",
      AWS_SECRET_ACCESS_KEY: "b",
      TABLE_NAME: "t",
      ENVIRONMENT: "test",
    },
  ],
  ["left nothing that can be read", "half of it"],
])("a command for a service that %s says so in a line", async (_, access) => {
  const folder = scratch();
  writeFileSync(join(folder, "access.json"), JSON.stringify(access).slice(0, typeof access === "string" ? 3 : undefined));
  const run = promisify(execFile)(process.execPath, [resolve("infra/admin.ts"), "list", "--data", folder]);
  await expect(run).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The service is not running here: [^\n]+\n$/),
  });
});

test.each([
  ["infra/admin.ts", "help", "npm run admin -- COMMAND"],
  ["infra/admin.ts", "--help", "npm run admin -- COMMAND"],
  ["infra/deploy.ts", "--help", "npm run deploy -- test|live"],
  ["test/smoke/run.ts", "--help", "npm run smoke -- live|test"],
])("%s %s prints its usage without a running service", async (command, option, usage) => {
  const cwd = tmpdir();
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [resolve(command), option], { cwd });
  expect(stdout).toContain(usage);
  expect(stderr).toBe("");
});
