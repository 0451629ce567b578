// Restores lose neither the old nor the new data, whatever fails and whenever.
import { afterAll, beforeAll, expect, test } from "vitest";
import { workflows } from "../../functions/workflows/index.ts";
import { Operation } from "../../shared/api/operations.ts";
import { LIFECYCLE } from "../../shared/domain/lifecycle.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { type WorkflowHarness, workflowHarness } from "./harness.ts";
import { ARCHIVED, restoresOf } from "./restores.ts";

const workflow = workflows["restore-backup"];

let cloud: TestCloud;
let harness: WorkflowHarness;
beforeAll(async () => {
  cloud = await processCloud();
  harness = await workflowHarness(cloud, { seeded: true });
});
afterAll(() => harness.close());

const { api, show, erpOf, contents, changedSince, restore } = restoresOf(() => harness);

test.each(LIFECYCLE["backup.restore"].from)(
  "a restore of an instance that is %s ends in the status it started from, except that a failed instance runs",
  async (from) => {
    const { instance, backup } = await changedSince(from);
    const { operation } = await harness.run(workflow, () => restore(backup));
    expect(operation.state).toBe("succeeded");
    const status = from === "failed" ? "running" : from;
    expect(await show(instance.id)).toMatchObject({ status, status_reason: null, neutralized: false, operation_id: null });
    const erp = await erpOf(instance);
    expect(erp).toMatchObject({ status, replaced: null, domain: instance.domain });
    expect(JSON.parse(erp.database?.data ?? "")).toEqual(ARCHIVED);
  },
);

test("a restore of a damaged archive fails before anything changes, with or without a safety backup", async () => {
  for (const backup_first of [true, false]) {
    const { instance, backup } = await changedSince("running", "corrupt");
    const before = await contents(instance);
    const { operation, tasks } = await harness.run(workflow, () => restore(backup, { backup_first }));
    expect(operation).toMatchObject({ state: "failed", error: { code: "BACKUP_CORRUPT" } });
    expect(tasks.map(({ task }) => task)).toEqual(["begin", "verifyArchive", "buildRestore", "putBack", "fail"]);
    expect(await contents(instance)).toEqual(before);
  }
});

test("a restore locks the backup it reads and its instance, and the errors of others name its operation", async () => {
  const { instance, backup } = await changedSince("running");
  const met: unknown[] = [];
  const { operation } = await harness.run(
    workflow,
    () => restore(backup),
    async ({ task }, next) => {
      if (task === "buildRestore") {
        const client = await api();
        for (const response of [
          await client.delete(`/backups/${backup.id}`),
          await client.delete(`/instances/${instance.id}`),
          await client.post(`/backups/${backup.id}/restore`),
          await client.post(`/instances/${instance.id}/backups`),
          await client.post(`/instances/${instance.id}/actions`, { action: "stop" }),
        ])
          met.push({ status: response.status, ...response.error });
      }
      return next();
    },
  );
  expect(met).toEqual(
    met.map(() =>
      expect.objectContaining({ status: 409, code: "OPERATION_IN_PROGRESS", details: { operation_id: operation.id } }),
    ),
  );
  const deletion = (await (await api()).delete(`/backups/${backup.id}`)).as(Operation);
  await harness.me.until(deletion.id);
});
