// The code of an instance in its backups: what is made of them has it, too.
import { unzipSync } from "fflate";
import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { DryRun } from "../../shared/api/dry-run.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import { keys } from "../../shared/data/keys.ts";
import { readAll } from "../../shared/data/table.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, uniqueDomain } from "../harness/account.ts";
import { downloaded } from "../harness/upload.ts";
import { backupsOfCode } from "./backed-up.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account({ seeded: true });
  for (const kind of ["server", "instance"] as const) await setQuota(me.id, kind, 100);
});

const { dataOf, codeOf, deploy, backedUp } = backupsOfCode(() => me);
const Begun = z.looseObject({ id: z.string(), operation_id: z.string().nullable() });
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
    const copy = (await me.api.post(`/instances/${id}/clone`, cloneBody(backupId, { neutralize }))).as(Begun);
    const { result } = await me.until(copy.operation_id);
    expect(result).not.toHaveProperty("missing_modules");
    expect(await dataOf(copy.id)).toEqual({ modules: { acme: "1.0" } });
    expect((await me.api.get(`/instances/${copy.id}`)).as(Instance).missing_modules).toEqual([]);
    const code = await codeOf(copy.id);
    expect(code).toMatchObject({ repositories: [{ url, ref: "main", commit }], python_packages: ["num2words>=0.5"] });
    expect(code.environment.map((variable) => variable.name)).toEqual(
      neutralize ? ["CARRIER_URL"] : ["CARRIER_URL", "CARRIER_KEY"],
    );
    expect(await deploy(copy.id)).toMatchObject({ status: "completed", modules: { updated: ["acme"] } });
    expect(await dataOf(copy.id)).toEqual({ modules: { acme: "2.0" } });
  }
});

test("a backup brings its code also when its instance is gone, and takes it along when it is deleted", async () => {
  const { id, backupId, commit } = await backedUp();
  await me.until((await me.api.delete(`/instances/${id}`)).as(Operation).id);
  const body = await me.instanceBody({ backup_id: backupId });
  const instance = (await me.api.post("/instances", body)).as(Begun);
  await me.until(instance.operation_id);
  expect((await codeOf(instance.id)).repositories[0]?.commit).toBe(commit);
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
