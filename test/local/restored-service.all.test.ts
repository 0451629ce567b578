// A service that starts from its own backup: tokens work, and what was in progress has failed without an undo.
import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, inject, test } from "vitest";
import { writeAccess } from "../../infra/local/access.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import { account } from "../harness/account.ts";
import { ownCloud } from "../harness/cloud.ts";
import { factsOf, startTestCloud } from "../harness/facts.ts";
import { holdWork } from "../harness/held-work.ts";

const scratch = (): string => mkdtempSync(join(tmpdir(), "service-"));
const admin = (...args: string[]) =>
  promisify(execFile)(process.execPath, [resolve("infra/admin.ts"), ...args], {
    env: { ...process.env, SERVICE_BACKUP_PASSPHRASE: "correct horse battery" },
  });

test("what was in progress at the time of the backup has failed, and its instance can be used", async () => {
  const dataDir = scratch();
  const cloud = await ownCloud({ dataDir });
  writeAccess(dataDir, factsOf(cloud).environment);
  const me = await account({ seeded: true });
  const [{ id }, created] = [await me.instance(), await me.token()];
  const release = holdWork(cloud, "restartErp");
  const restart = (await me.api.post(`/instances/${id}/actions`, { action: "restart" })).as(Operation);
  const to = scratch();
  await admin("backup-service", "--to", to, "--data", dataDir);
  release();
  await cloud.states.settled();
  expect((await me.api.get(`/operations/${restart.id}`)).as(Operation).status).toBe("succeeded");

  const at = join(scratch(), "restored");
  const { stdout } = await admin("restore-service", "--from", to, "--data", at);
  expect(stdout).toContain(`${restart.id} was in progress`);
  const restored = await startTestCloud(inject("outDir"), "", { dataDir: at });
  try {
    const get = async (path: string): Promise<unknown> => {
      const headers = { authorization: `Bearer ${created.value}` };
      return (await fetch(`${restored.apiUrl}/api/v1${path}`, { headers })).json();
    };
    await restored.events.fire("sweep");
    await restored.states.settled();
    const failed = { status: "failed", error: { message: expect.stringContaining("restored from a backup") } };
    expect(await get(`/operations/${restart.id}`)).toMatchObject({ success: true, data: failed });
    expect(await get(`/instances/${id}`)).toMatchObject({
      data: { status: "failed", operation_id: null } satisfies Partial<Instance>,
    });
  } finally {
    await restored.stop();
  }
});
