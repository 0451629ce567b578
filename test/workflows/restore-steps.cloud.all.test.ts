// A restore that fails in each of its steps, before and after the step's work.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { workflows } from "../../functions/workflows/index.ts";
import { LIFECYCLE } from "../../shared/domain/lifecycle.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { InjectedError, type WorkflowHarness, workflowHarness } from "./harness.ts";
import { ARCHIVED, restoresOf } from "./restores.ts";
import { expectConsistent, snapshotOf } from "./snapshot.ts";

const workflow = workflows["restore-backup"];

let cloud: TestCloud;
let harness: WorkflowHarness;
beforeAll(async () => {
  cloud = await processCloud();
  harness = await workflowHarness(cloud, { seeded: true });
});
afterAll(() => harness.close());

const { show, contents, changedSince, restore } = restoresOf(() => harness);

describe.each(LIFECYCLE["backup.restore"].from.map((from) => ({ from })))("of an instance that is $from", ({ from }) => {
  const steps = workflow.steps.map(({ name }) => ({ name }));
  describe.each(steps)("that fails in $name", ({ name }) => {
    test.each(["before", "after"])("a restore that fails %s its work loses neither the old nor the new data", async (when) => {
      const { instance, backup } = await changedSince(from);
      const [before, instanceBefore] = [await contents(instance), await show(instance.id)];
      const { operation } = await harness.run(
        workflow,
        () => restore(backup),
        async ({ task }, next) => {
          const result = task !== name || when === "after" ? await next() : undefined;
          if (task === name) throw new InjectedError("GiveUp");
          return result;
        },
      );
      const after = await contents(instance);
      // Once the old data is dropped there is no way back, and none is needed: the restored data is in place, and the operation
      // says so.
      if (name === "dropOld" && when === "after") {
        expect(operation).toMatchObject({ state: "succeeded", error: null });
        expect(await show(instance.id)).toMatchObject({ status: from === "failed" ? "running" : from, status_reason: null });
        expect(JSON.parse(after.database?.data ?? "")).toEqual(ARCHIVED);
        return expectConsistent(await snapshotOf(cloud, harness.me.id));
      }
      expect(operation.state).toBe("failed");
      expect(await show(instance.id)).toEqual({ ...instanceBefore, updated_at: expect.any(String) });
      if (from === "failed") expect(after).toEqual({ ...before, status: after.status });
      else expect(after).toEqual(before);
      expectConsistent(await snapshotOf(cloud, harness.me.id));
    });
  });
});
