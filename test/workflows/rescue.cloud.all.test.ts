// The rescue of executions that die, called twice or late. What it repairs is attacked in `test/guarantees`.
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { workflows } from "../../functions/workflows/index.ts";
import { findOperation, markUndoing } from "../../shared/records/operations.ts";
import { findWorkLog } from "../../shared/records/work-logs.ts";
import { rescueName } from "../../shared/domain/workflow.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { InjectedError, table, undosOf, type WorkflowHarness, workflowHarness } from "./harness.ts";
import { snapshotOf } from "./snapshot.ts";

let cloud: TestCloud;
let harness: WorkflowHarness;
beforeAll(async () => {
  cloud = await processCloud();
});
beforeEach(async () => {
  harness = await workflowHarness(cloud, { seeded: true });
});
afterEach(() => harness.close());

const committing = table.flatMap((each) =>
  each.workflow.steps.flatMap((step) => (step.commits === true ? [{ ...each, commits: step.name }] : [])),
);

test.each(committing)("$name, whose undo has begun, cannot commit any more", async ({ workflow, row, commits }) => {
  const { operation } = await harness.run(
    workflow,
    await harness.prepare(workflow, row.from[0]),
    async ({ task, payload }, next) => {
      const record = await findOperation(harness.me.id, payload.input.operation_id);
      if (task === commits && record !== undefined) await markUndoing(record);
      return next();
    },
  );
  expect(operation).toMatchObject({ state: "failed", error: { code: "CANCELLED" } });
});

test.each(committing)(
  "$name, once it has committed, is a success even if what it replaced can never be removed",
  async ({ workflow, row, commits }) => {
    const undos = new Set(undosOf(workflow.steps));
    const { operation } = await harness.run(workflow, await harness.prepare(workflow, row.from[0]), async ({ task }, next) => {
      if (undos.has(task)) throw new InjectedError("Boom");
      const result = await next();
      if (task === commits) throw new InjectedError("GiveUp");
      return result;
    });
    expect(operation).toMatchObject({ state: "succeeded", error: null });
    expect(await harness.stateOf(operation)).toEqual({ state: operation.before, reason: null });
  },
);

test("an operation whose undo dies, too, keeps what its jobs have logged", async () => {
  const workflow = workflows["restart-instance"];
  const { operation } = await harness.run(workflow, await harness.prepare(workflow), async ({ task }, next) => {
    if (task === "awaitHealthy" || task === "fail") throw new InjectedError("Boom");
    return next();
  });
  expect(operation).toMatchObject({ state: "failed", error: { code: "INTERNAL_ERROR" } });
  expect(await findWorkLog(operation)).toMatch(/^# restart_erp\nSimulated: restart erp\n/);
});

// One of them is enough: they all run the same code.
test.each(table.slice(0, 1))("a second or late rescue of $name changes nothing", async ({ workflow, row }) => {
  const ask = () => harness.prepare(workflow, row.from[0]);
  const failed = await harness.run(workflow, await ask(), async ({ task }, next) => {
    if (task === "succeed") throw new InjectedError("Boom");
    return next();
  });
  const well = await harness.run(workflow, await ask());
  const before = await snapshotOf(cloud, harness.me.id);
  for (const { operation } of [failed, well])
    for (const name of [operation.id, rescueName(operation.id), operation.id]) {
      const execution = cloud.states.executions().find((each) => each.name === operation.id);
      await cloud.events.put({
        source: "aws.states",
        "detail-type": "Step Functions Execution Status Change",
        detail: {
          name,
          status: "FAILED",
          stateMachineArn: execution?.stateMachineArn ?? "",
          executionArn: execution?.executionArn ?? "",
          input: execution?.input ?? "",
          error: null,
          cause: null,
        },
      });
      await harness.settled();
    }
  expect(await snapshotOf(cloud, harness.me.id)).toEqual(before);
});
