// Commands of the operator for people whose email has a domain in another script.
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { writeAccess } from "../../infra/local/access.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { anonymous } from "../harness/client.ts";
import { ownCloud } from "../harness/cloud.ts";
import { factsOf } from "../harness/facts.ts";
import { scratch } from "../infra/stubs.ts";

const folder = scratch();
let me: TestAccount;
beforeAll(async () => {
  writeAccess(folder, factsOf(await ownCloud()).environment);
  me = await account({ seeded: true });
});

const admin = async (...args: string[]): Promise<string> => {
  const command = [resolve("infra/admin.ts"), ...args, "--data", folder];
  return (await promisify(execFile)(process.execPath, command, { env: { PATH: process.env["PATH"] } })).stdout;
};

test("an email may be international, as in requests", async () => {
  const email = "hans@müller.de";
  expect(await admin("create-user", "--account", me.id, "--email", email)).toContain("User hans@xn--mller-kva.de");
  expect(await admin("set-role", "--email", email, "--role", "viewer")).toContain("has the role viewer");
  const [, password = ""] = /^Password (\S+)/m.exec(await admin("set-password", "--email", email)) ?? [];
  expect((await anonymous.post("/auth/login", { email, password })).status).toBe(200);
  expect(await admin("delete-user", "--email", email)).toContain("was removed");
  await expect(admin("delete-user", "--email", "hans@müller")).rejects.toMatchObject({
    stderr: expect.stringContaining("--email must be an email address."),
  });
});
