// Every workflow runs its steps once and in order, and undoes them in reverse order, with the synthesized state machines and the
// real bundles. `test/guarantees` attacks them.
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { afterSuccess, type State, type Transition } from "../../shared/domain/lifecycle.ts";
import type { OperationRecord } from "../../shared/records/schemas/operation.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { later, some } from "../harness/some.ts";
import {
  type Intercept,
  isOnMachine,
  type Row,
  table,
  InjectedError,
  INJECTED,
  published,
  startsOf,
  undosOf,
  type WorkflowHarness,
  workflowHarness,
} from "./harness.ts";
import { expectConsistent, expectFree, snapshotOf } from "./snapshot.ts";

let cloud: TestCloud;
/** Each test has its own account, so that no test finds or reads what another one left. */
let harness: WorkflowHarness;

async function expectEnd(
  row: Transition,
  operation: OperationRecord,
  from: State | undefined,
  succeeded: boolean,
): Promise<void> {
  const to = succeeded ? row.to : row.failed;
  const before = succeeded && from !== undefined ? afterSuccess(operation.type, from) : from;
  const current = await harness.stateOf(operation);
  if (to === "gone" || row.resource === "account") expect(current).toBeUndefined();
  else expect(current?.state).toBe(published(to === "before" ? String(before) : to));
  // A failed state has a reason; others have none.
  if (!succeeded && (row.failed.endsWith("failed") || isOnMachine(row))) expect(current?.reason).toBe(operation.error?.message);
  else if (current !== undefined && !current.state.endsWith("failed")) expect(current.reason).toBeNull();
}

/** A failed deletion can be requested again, and then succeeds. */
async function expectNothingLeft(row: Transition, operation: OperationRecord): Promise<void> {
  if (row.to === "gone" && operation.state === "failed") {
    expectFree(await snapshotOf(cloud, harness.me.id));
    await harness.remove(operation);
  }
  expectConsistent(await snapshotOf(cloud, harness.me.id));
}

beforeAll(async () => {
  cloud = await processCloud();
});
describe.each(table.map((row, index) => ({ ...row, index })))("$name", (row) => {
  testsOf(row, row.index);
});

function testsOf({ workflow, row }: Row, place: number): void {
  const { steps } = workflow;
  beforeEach(async () => {
    harness = await workflowHarness(cloud, { seeded: true });
  });
  afterEach(() => harness.close());

  const froms = startsOf({ row });
  const [usual] = froms;
  const run = async (from: State | undefined, intercept?: Intercept) =>
    harness.run(workflow, await harness.prepare(workflow, from), intercept);

  test.each(some(froms, froms.length, place))(
    "a workflow from %s ends where the lifecycle says, with each step once and in order",
    async (from) => {
      const { operation, tasks } = await run(from);
      expect(operation).toMatchObject({ state: "succeeded", progress: 100, step: null, error: null });
      expect(tasks.map(({ task }) => task)).toEqual(["begin", ...steps.map(({ name }) => name), "succeed"]);
      await expectEnd(row, operation, from, true);
      await expectNothingLeft(row, operation);
    },
  );

  const indexed = steps.map((step, index) => ({ ...step, index }));
  test.each(later(indexed))(
    "when $name fails for good, it is undone with all earlier steps, in reverse order",
    async ({ name, index }) => {
      const undos = undosOf(steps.slice(0, index + 1));
      const { operation, tasks } = await run(usual, async ({ task }, next) => {
        if (task === name) throw new InjectedError("GiveUp");
        return next();
      });
      expect(operation).toMatchObject({ state: "failed", error: INJECTED, step: null });
      await expectEnd(row, operation, usual, false);
      const order = tasks.map(({ task }) => task);
      expect(order.slice(order.lastIndexOf(name) + 1)).toEqual([...undos, "fail"]);
      expect(harness.cloud.states.executions().find((each) => each.name === operation.id)?.status).toBe("SUCCEEDED");
      await expectNothingLeft(row, operation);
    },
  );
}
