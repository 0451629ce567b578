// Clones: independent of their source, complete, one beside another, and removed if they fail.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { workflows } from "../../functions/workflows/index.ts";
import { Backup } from "../../shared/api/backups.ts";
import { Code } from "../../shared/api/code.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import { getOperation } from "../../shared/records/operations.ts";
import { type SandboxErp } from "../../shared/providers/sandbox/machines.ts";
import { find } from "../../shared/data/table.ts";
import { backupRef } from "../../shared/records/backups.ts";
import { uniqueDomain } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { seedBackupCode } from "../harness/seed.ts";
import { erpsOf } from "./erps.ts";
import { type Intercept, type WorkflowHarness, workflowHarness } from "./harness.ts";
import { expectConsistent, snapshotOf } from "./snapshot.ts";

const DATA = { orders: 3, note: "Ünïcödé \\ tab\t line\n 💥", nested: { empty: "", list: [null, true, 1.5] } };

let cloud: TestCloud;
let harness: WorkflowHarness;
beforeAll(async () => {
  cloud = await processCloud();
  harness = await workflowHarness(cloud, { seeded: true });
});
afterAll(() => harness.close());

const { api, show, write, erpOf } = erpsOf(() => harness);

describe("a clone", () => {
  let source: Instance;
  let backup: Backup;
  beforeAll(async () => {
    source = await harness.me.instance();
    await write(source.id, DATA);
    backup = await harness.me.backup(source.id);
  });
  const ask = async (fields: object = {}) =>
    (await api()).post(`/instances/${source.id}/clone`, {
      name: "Copy",
      domain: uniqueDomain("copy"),
      backup_id: backup.id,
      ...fields,
    });
  async function cloned(fields: object = {}): Promise<{ instance: Instance; erp: SandboxErp }> {
    const copy = (await ask(fields)).as(Instance);
    await harness.me.until(copy.operation_id);
    const instance = await show(copy.id);
    return { instance, erp: await erpOf(instance) };
  }

  test("a clone has all of the backup's data, and its own UUID, secret, URL and password", async () => {
    const { instance, erp } = await cloned();
    const original = await erpOf(source);
    expect(JSON.parse(erp.database?.data ?? "")).toEqual(DATA);
    expect(erp.files).toEqual(original.files);
    for (const part of ["uuid", "secret", "base_url", "admin_password_hash"] as const)
      expect(erp.database?.[part], part).not.toBe(original.database?.[part]);
    expect(erp).toMatchObject({ status: "running", domain: instance.domain, database_name: instance.database_name });
    expect(erp.database?.base_url).toBe(`https://${instance.domain}`);
    expect(await erpOf(source), "the source is left alone").toEqual(original);
  });

  test.each([
    [true, 0],
    [false, 4],
  ])("a clone with neutralize %s has %i scheduled jobs and mail servers turned on", async (neutralize, count) => {
    const { instance, erp } = await cloned({ neutralize });
    const active = [...(erp.database?.crons ?? []), ...(erp.database?.mail_servers ?? [])].filter((each) => each.active);
    expect(active).toHaveLength(count);
    expect([instance.neutralized, erp.database?.neutralized]).toEqual([neutralize, neutralize]);
  });

  test("a clone with only the files or only the database has only those", async () => {
    const files = (await cloned({ restore_database: false })).erp;
    expect(files.files).toEqual((await erpOf(source)).files);
    expect(files.database?.data).toBe("{}");
    const database = (await cloned({ restore_filestore: false })).erp;
    expect(JSON.parse(database.database?.data ?? "")).toEqual(DATA);
    expect(Object.values(database.files)).not.toContain(JSON.stringify(DATA.note));
  });

  test("two concurrent clones of one backup succeed, and the backup cannot be deleted until both have ended", async () => {
    const rejected: unknown[] = [];
    const intercept: Intercept = async ({ task }, next) => {
      if (task === "restoreArchive") rejected.push((await (await api()).delete(`/backups/${backup.id}`)).error?.code);
      return next();
    };
    let other: Instance | undefined;
    const { operation } = await harness.run(
      workflows["clone-instance"],
      async () => {
        const [one, two] = await Promise.all([ask(), ask()]);
        other = two?.as(Instance);
        return one;
      },
      intercept,
    );
    expect(operation.state).toBe("succeeded");
    expect(
      await getOperation(
        harness.me.id,
        (await (await api()).get(`/operations?resource_id=${other?.id}`)).as(Operation.array())[0]?.id ?? "",
      ),
    ).toMatchObject({ state: "succeeded" });
    expect(rejected).toEqual(["OPERATION_IN_PROGRESS", "OPERATION_IN_PROGRESS"]);
    expect((await find(backupRef(harness.me.id, backup.id)))?.used_by?.size ?? 0).toBe(0);
  });

  test("a clone that fails its verification is removed", async () => {
    // A neutralization that claims success, but did nothing.
    const { operation } = await harness.run(
      workflows["clone-instance"],
      () => ask(),
      async ({ task }, next) => (task === "neutralize" ? null : next()),
    );
    expect(operation).toMatchObject({
      state: "failed",
      error: { code: "HOST_JOB_FAILED", message: expect.stringContaining("still active") },
    });
    expectConsistent(await snapshotOf(cloud, harness.me.id));
  });

  test("code that is set while the clone is made stays, and the backup's fills what was not set", async () => {
    const withCode = await harness.me.backup(source.id);
    await seedBackupCode(harness.me.id, { id: withCode.id, instance_id: source.id });
    const request = ask({ backup_id: withCode.id });
    let set: Code | undefined;
    const { operation } = await harness.run(
      workflows["clone-instance"],
      () => request,
      async ({ task, tries }, next) => {
        if (task !== "bringCode" || tries > 1) return next();
        const { id } = (await request).as(Instance);
        const body = { python_packages: ["num2words==0.5"], auto_deploy: "push" };
        set = (await (await api()).put(`/instances/${id}/code`, body)).as(Code);
        await next();
        await (await api()).put(`/instances/${id}/code`, { install_modules: ["sale"] });
        return next();
      },
    );
    expect(operation.state).toBe("succeeded");
    expect(set?.repositories).toEqual([]);
    const code = (await (await api()).get(`/instances/${(await request).as(Instance).id}/code`)).as(Code);
    expect(code).toMatchObject({
      python_packages: ["num2words==0.5"],
      auto_deploy: "push",
      install_modules: ["sale"],
      repositories: [{ url: "https://git.example/acme", ref: "main", commit: expect.stringMatching(/^8f3c1d5e/) }],
    });
  });
});
