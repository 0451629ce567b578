// The code of an instance in its backups: what is made of them has it, too.
import { unzipSync } from "fflate";
import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { Backup } from "../../shared/api/backups.ts";
import { Code } from "../../shared/api/code.ts";
import { Deploy } from "../../shared/api/deploys.ts";
import { DryRun } from "../../shared/api/dry-run.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import { keys } from "../../shared/data/keys.ts";
import { readAll } from "../../shared/data/table.ts";
import { setQuota } from "../../shared/operations/operator.ts";
import { account, type TestAccount, uniqueDomain } from "../harness/account.ts";
import { seedBackupCode } from "../harness/seed.ts";
import { downloaded } from "../harness/upload.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account({ seeded: true });
  for (const kind of ["server", "instance"] as const) await setQuota(me.id, kind, 100);
});

let last = 0;
const repositoryName = () => `backup-${Date.now().toString(36)}-${++last}`;
const put = (name: string, modules: Record<string, string>) =>
  me.api.put(`/sandbox/repositories/${name}`, { ref: "main", modules });
const dataOf = async (id: string) => JSON.parse((await me.api.get(`/sandbox/instances/${id}/data`)).text).data as unknown;
const codeOf = async (id: string) => (await me.api.get(`/instances/${id}/code`)).as(Code);
const Begun = z.looseObject({ id: z.string(), operation_id: z.string().nullable() });

async function deploy(id: string): Promise<Deploy> {
  const begun = (await me.api.post(`/instances/${id}/deploys`, { rehearse: false, backup_first: false })).as(Deploy);
  await me.until(begun.operation_id);
  return (await me.api.get(`/deploys/${begun.id}`)).as(Deploy);
}

/** An instance with the module `acme` in version 1.0, its backup, and a repository that is newer by now. */
async function backedUp() {
  const { id } = await me.instance();
  const name = repositoryName();
  await put(name, { acme: "1.0" });
  const repositories = [{ url: `https://git.example/${name}`, ref: "main" }];
  const environment = [
    { name: "CARRIER_URL", value: "https://carrier.example" },
    { name: "CARRIER_KEY", secret: "very-secret" },
  ];
  const python_packages = ["num2words>=0.5"];
  await me.api.put(`/instances/${id}/code`, { repositories, environment, python_packages, install_modules: ["acme"] });
  const [commit] = (await deploy(id)).commits;
  // Not a seeded one, which would be of no code.
  const backup = (await me.api.post(`/instances/${id}/backups`, {})).as(Backup);
  await me.until(backup.operation_id);
  await put(name, { acme: "2.0" });
  return { id, name, backupId: backup.id, commit: commit?.commit ?? "" };
}

const cloneBody = (backup_id: string, more: object = {}) => ({ name: "Copy", domain: uniqueDomain("copy"), backup_id, ...more });

test("a clone has the code of the backup and not the newest, and its secrets only if it is not neutralized", async () => {
  const { id, name, backupId, commit } = await backedUp();
  const planned = (await me.api.post(`/instances/${id}/clone?dry_run=true`, cloneBody(backupId))).as(DryRun);
  const url = `https://git.example/${name}`;
  expect(planned.effects).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ code: "copy_code", parameters: { url, ref: "main", commit } }),
      expect.objectContaining({ code: "copy_without_secrets" }),
    ]),
  );
  for (const neutralize of [true, false]) {
    const begun = (await me.api.post(`/instances/${id}/clone`, cloneBody(backupId, { neutralize }))).as(Begun);
    const { result } = await me.until(begun.operation_id);
    expect(result).not.toHaveProperty("missing_modules");
    expect(await dataOf(begun.id)).toEqual({ modules: { acme: "1.0" } });
    expect((await me.api.get(`/instances/${begun.id}`)).as(Instance).missing_modules).toEqual([]);
    const code = await codeOf(begun.id);
    expect(code).toMatchObject({ repositories: [{ url, ref: "main", commit }], python_packages: ["num2words>=0.5"] });
    expect(code.environment.map((variable) => variable.name)).toEqual(
      neutralize ? ["CARRIER_URL"] : ["CARRIER_URL", "CARRIER_KEY"],
    );
    expect(await deploy(begun.id)).toMatchObject({ status: "completed", modules: { updated: ["acme"] } });
    expect(await dataOf(begun.id)).toEqual({ modules: { acme: "2.0" } });
  }
});

test("a backup brings its code also when its instance is gone, and takes it along when it is deleted", async () => {
  const { id, backupId, commit } = await backedUp();
  await me.until((await me.api.delete(`/instances/${id}`)).as(Operation).id);
  const body = await me.instanceBody({ backup_id: backupId });
  const begun = (await me.api.post("/instances", body)).as(Begun);
  await me.until(begun.operation_id);
  expect((await codeOf(begun.id)).repositories[0]?.commit).toBe(commit);
  await me.until((await me.api.delete(`/backups/${backupId}`)).as(Operation).id);
  expect(await readAll([keys.backupCode(me.id, backupId)])).toEqual(new Map());
});

test("an archive names the code in its manifest, without anything secret", async () => {
  const { name, backupId, commit } = await backedUp();
  const files = unzipSync(await downloaded(me.api, backupId));
  const manifest = new TextDecoder().decode(files["manifest.json"]);
  expect(JSON.parse(manifest)).toMatchObject({
    code: {
      repositories: [{ url: `https://git.example/${name}`, ref: "main", path: null, commit }],
      python_packages: ["num2words==0.5"],
    },
  });
  expect(manifest).not.toContain("very-secret");
});

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
