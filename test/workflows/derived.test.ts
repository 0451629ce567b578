// Every workflow: what each of its steps may do to it, from the tables, with the synthesized state machines and the real bundles.
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Cloud } from "../../infra/local/cloud.ts";
import type { State, Transition } from "../../shared/domain/lifecycle.ts";
import type { OperationRecord } from "../../shared/data/records.ts";
import type { Workflow } from "../../shared/domain/workflow.ts";
import { ownCloud } from "../harness/cloud.ts";
import { some } from "../harness/some.ts";
import {
  type Intercept,
  type Row,
  table,
  InjectedError,
  INJECTED,
  published,
  undosOf,
  type WorkflowHarness,
  workflowHarness,
} from "./harness.ts";
import { expectConsistent, expectFree, snapshotOf } from "./snapshot.ts";

let cloud: Cloud;
/** Each test has its own account, so that no test finds or reads what another one left. */
let harness: WorkflowHarness;

async function expectEnd(
  row: Transition,
  operation: OperationRecord,
  from: State | undefined,
  succeeded: boolean,
): Promise<void> {
  const to = succeeded ? row.to : row.failed;
  const before = succeeded && operation.type === "backup.restore" && from === "failed" ? "running" : from;
  const found = await harness.stateOf(operation);
  if (to === "gone") expect(found).toBeUndefined();
  else expect(found?.state).toBe(published(to === "before" ? String(before) : to));
  // A failed state has a reason; others have none.
  if (!succeeded && row.failed.endsWith("failed")) expect(found?.reason).toBe(operation.error?.message);
  else if (found !== undefined && !found.state.endsWith("failed")) expect(found.reason).toBeNull();
}

/** A failed deletion can be requested again, and then succeeds. */
async function expectNothingLeft(row: Transition, operation: OperationRecord): Promise<void> {
  if (row.to === "gone" && operation.state === "failed") {
    expectFree(await snapshotOf(cloud, harness.me.id));
    await harness.remove(operation);
  }
  expectConsistent(await snapshotOf(cloud, harness.me.id));
}

const isCommon = (task: string): boolean => ["begin", "succeed", "fail"].includes(task);
const twice: Intercept = async (_, next) => {
  await next();
  return next();
};

beforeAll(async () => {
  cloud = await ownCloud({ timeScale: 0 });
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

  const froms: (State | undefined)[] = row.from.length > 0 ? [...row.from] : [undefined];
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

  const endsTheSame = async () => {
    const { operation } = await run(usual, twice);
    expect(operation).toMatchObject({ state: "succeeded", error: null });
    await expectEnd(row, operation, usual, true);
    await expectNothingLeft(row, operation);
  };

  const succeedsInTheEnd = async () => {
    const { operation, tasks } = await run(usual, async ({ tries }, next) => {
      if (tries === 1) throw new InjectedError("TryAgain");
      const done = await next();
      if (tries === 2) throw new InjectedError("TryAgain");
      return done;
    });
    expect(operation).toMatchObject({ state: "succeeded", error: null });
    expect(tasks).toHaveLength(3 * (steps.length + 2));
    await expectEnd(row, operation, usual, true);
    await expectNothingLeft(row, operation);
  };

  const repetitions: [how: string, expectHeld: () => Promise<void>][] = [
    ["a workflow ends the same when every task runs twice", endsTheSame],
    ["a workflow succeeds when every task fails twice, before or after its work", succeedsInTheEnd],
  ];
  test.each(some(repetitions, 2, place))("%s", (_, expectHeld) => expectHeld());

  const indexed = steps.map((step, index) => ({ ...step, index }));
  describe.each(some(indexed, 2, place))("when $name fails for good", ({ name, index, ...step }) => {
    const undos = undosOf(steps.slice(0, index + 1));
    /** How the operation ends once the step has begun. */
    const stays = "commits" in step;
    const end = (succeeded: boolean) => (succeeded ? { state: "succeeded", error: null } : { state: "failed", error: INJECTED });

    async function expectUndone(workflowOf: Workflow, intercept: Intercept, succeeded = false, from = usual) {
      const { operation, tasks } = await harness.run(workflowOf, await harness.prepare(workflowOf, from), intercept);
      expect(operation).toMatchObject({ ...end(succeeded), step: null });
      await expectEnd(row, operation, from, succeeded);
      const order = tasks.map(({ task }) => task);
      expect(order.slice(order.lastIndexOf(name) + 1)).toEqual([...undos, "fail"]);
      expect(harness.cloud.states.executions().find((each) => each.name === operation.id)?.status).toBe("SUCCEEDED");
      await expectNothingLeft(row, operation);
      return operation;
    }

    const before = async () => {
      await expectUndone(workflow, async ({ task }, next) => {
        if (task === name) throw new InjectedError("GiveUp");
        return next();
      });
    };

    const after = async () => {
      const intercept: Intercept = async ({ task }, next) => {
        const done = await next();
        if (task === name) throw new InjectedError("GiveUp");
        return done;
      };
      await expectUndone(workflow, intercept, stays);
    };

    const withUndosTwice = async () => {
      const isUndo = (task: string): boolean => task === "fail" || !(isCommon(task) || steps.some((step) => step.name === task));
      const once = new Set<string>();
      const { operation } = await harness.run(workflow, await harness.prepare(workflow, usual), async ({ task, tries }, next) => {
        if (task === name && !once.has(task)) {
          await next();
          once.add(task);
          throw new InjectedError("GiveUp");
        }
        const done = await next();
        if (isUndo(task) && tries === 1) throw new InjectedError("TryAgain");
        return done;
      });
      expect(operation).toMatchObject(end(stays));
      await expectEnd(row, operation, usual, stays);
      await expectNothingLeft(row, operation);
    };

    const ways: [how: string, expectHeld: () => Promise<void>][] = [
      ["a step that fails before its work is undone with all earlier ones, in reverse order", before],
      [`a step that fails after its work ${stays ? "keeps" : "undoes"} it`, after],
      ["a failure ends the same if every undo runs twice, the first time with a lost response", withUndosTwice],
    ];
    test.each(some(ways, ways.length, index))("%s", (_, expectHeld) => expectHeld());
  });
}
