// Backups of instances with code: restores into their own instance, code that is gone, and drills.
import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { Backup } from "../../shared/api/backups.ts";
import { DryRun } from "../../shared/api/dry-run.ts";
import { Operation } from "../../shared/api/operations.ts";
import { secretsInLogs } from "../../shared/operations/code/log-secrets.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { findCode } from "../../shared/records/code.ts";
import { openRepositories } from "../../shared/records/code-secrets.ts";
import { account, type TestAccount, uniqueDomain } from "../harness/account.ts";
import { seedBackupCode } from "../harness/seed.ts";
import { backupsOfCode } from "./backed-up.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account({ seeded: true });
  for (const kind of ["server", "instance"] as const) await setQuota(me.id, kind, 100);
});

const { dataOf, codeOf, deploy, backedUp } = backupsOfCode(() => me);
const Begun = z.looseObject({ id: z.string(), operation_id: z.string().nullable() });
const cloneBody = (backup_id: string, more: object = {}) => ({ name: "Copy", domain: uniqueDomain("copy"), backup_id, ...more });

test("a restore into its own instance keeps the present code, and its dry run says where the backup's differs", async () => {
  const { id, name, backupId, commit } = await backedUp();
  const planned = async () => (await me.api.post(`/backups/${backupId}/restore?dry_run=true`, {})).as(DryRun);
  expect((await planned()).warning_reasons.map(({ code }) => code)).not.toContain("restore_code_differs");
  const newer = await deploy(id);
  expect((await planned()).warning_reasons).toContainEqual({
    code: "restore_code_differs",
    parameters: { code: `https://git.example/${name} ${commit}` },
  });
  await me.until((await me.api.post(`/backups/${backupId}/restore`, {})).as(Operation).id);
  expect((await codeOf(id)).repositories[0]?.commit).toBe(newer.commits[0]?.commit);
  expect(await dataOf(id)).toEqual({ modules: { acme: "1.0" } });
  // The database knows what it was last updated with.
  expect((await deploy(id)).modules?.updated).toEqual(["acme"]);
});

test("where the code cannot be had any more, a drill fails as an operation and a clone says why", async () => {
  const { id } = await me.instance();
  const { id: backupId } = await me.backup(id);
  await seedBackupCode(me.id, { id: backupId, instance_id: id }, "moved");
  const drill = (await me.api.post(`/backups/${backupId}/drill`, {})).as(Operation);
  expect((await me.until(drill.id, "failed")).error).toMatchObject({ code: "CODE_UNREACHABLE" });
  expect((await me.api.get(`/backups/${backupId}`)).as(Backup)).toMatchObject({ status: "completed", drill: null });
  const clone = (await me.api.post(`/instances/${id}/clone`, cloneBody(backupId))).as(Begun);
  expect((await me.until(clone.operation_id, "failed")).error).toMatchObject({
    code: "CODE_UNREACHABLE",
    message: expect.stringContaining("https://git.example/acme"),
  });
});

test("a drill of a backup with code passes", async () => {
  const { backupId } = await backedUp();
  const { result } = await me.until((await me.api.post(`/backups/${backupId}/drill`, {})).as(Operation).id);
  expect(result?.drill?.status).toBe("passed");
});

test("a clone of a backup is fetched with the token that its instance has now", async () => {
  const { id, name } = await backedUp();
  const url = `https://git.example/${name}`;
  const setToken = (token: string) =>
    me.api.put(`/instances/${id}/code`, { repositories: [{ url, ref: "main", credential: { username: "deploy", token } }] });
  await setToken("token-of-then");
  await deploy(id);
  const backup = (await me.api.post(`/instances/${id}/backups`, {})).as(Backup);
  await me.until(backup.operation_id);
  await setToken("token-of-now");
  const clone = (await me.api.post(`/instances/${id}/clone`, cloneBody(backup.id))).as(Begun);
  await me.until(clone.operation_id);
  const tokenOf = async (instanceId: string) =>
    (await openRepositories(await findCode({ account_id: me.id, id: instanceId })))[0]?.credential;
  expect(await tokenOf(clone.id)).toEqual({ username: "deploy", token: "token-of-now" });
  // Nor does a log show either of them.
  const inLogs = await secretsInLogs({ account_id: me.id, operation_id: null, backup_id: backup.id });
  expect(inLogs).toEqual(expect.arrayContaining(["token-of-then", "token-of-now"]));
});
