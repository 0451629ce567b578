// Executions that die: a second one undoes what they left, and however that ends, nothing stays locked.
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Cloud } from "../../infra/local/cloud.ts";
import type { OperationRecord } from "../../shared/data/records.ts";
import type { State, Transition } from "../../shared/domain/lifecycle.ts";
import { rescueName } from "../../shared/domain/workflow.ts";
import { ownCloud } from "../harness/cloud.ts";
import { some } from "../harness/some.ts";
import {
  type Intercept,
  type Row,
  type Run,
  table,
  InjectedError,
  INJECTED,
  published,
  undosOf,
  type WorkflowHarness,
  workflowHarness,
} from "./harness.ts";
import { expectConsistent, expectCounts, expectFree, expectMarkers, snapshotOf } from "./snapshot.ts";

let cloud: Cloud;
let harness: WorkflowHarness;

const statusOf = (name: string) => cloud.states.executions().find((each) => each.name === name)?.status;
const tasksOf = ({ tasks }: Run, execution: string) =>
  tasks.filter((each) => each.execution === execution).map(({ task }) => task);

async function stop(execution: string): Promise<void> {
  const executionArn = cloud.states.executions().find(({ name }) => name === execution)?.executionArn;
  await cloud.states.handle("StopExecution", { executionArn });
}

/** How often the alarm's metric was written. */
function undoFailed(): number {
  const name = cloud.template.functions.find((each) => /rescue/i.test(each.name))?.name ?? "";
  return cloud.lambda.logs(name).filter((line) => line.includes('"UndoFailed":1')).length;
}

beforeAll(async () => {
  cloud = await ownCloud({ timeScale: 0 });
});
beforeEach(async () => {
  harness = await workflowHarness(cloud, { seeded: true });
});
afterEach(() => harness.close());

describe.each(table.map((row, index) => ({ ...row, index })))("$name", (row) => {
  testsOf(row, row.index);
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
      const found = cloud.states.executions().find((each) => each.name === operation.id);
      await cloud.events.put({
        source: "aws.states",
        "detail-type": "Step Functions Execution Status Change",
        detail: {
          name,
          status: "FAILED",
          stateMachineArn: found?.stateMachineArn ?? "",
          executionArn: found?.executionArn ?? "",
          input: found?.input ?? "",
          error: null,
          cause: null,
        },
      });
      await harness.settled();
    }
  expect(await snapshotOf(cloud, harness.me.id)).toEqual(before);
});

function testsOf({ workflow, row }: Row, place: number): void {
  const { steps } = workflow;
  const from: State | undefined = row.from[0];
  const undos = undosOf(steps);
  const last = steps.at(-1)?.name;
  const run = async (intercept: Intercept) => harness.run(workflow, await harness.prepare(workflow, from), intercept);

  /** Steps after which nothing is undone any more. */
  const commits = steps.filter((step) => step.commits).map(({ name }) => name);

  /** As after a failure that was undone, or a success that only had to clean up: done by the second execution. */
  async function expectRescued({ operation }: Run, code: string, stays = false): Promise<void> {
    const failed = { state: "failed", error: { code, message: expect.stringMatching(/^[A-Z].*\w$/) } };
    expect(operation).toMatchObject(stays ? { state: "succeeded", error: null } : failed);
    expect(statusOf(rescueName(operation.id))).toBe("SUCCEEDED");
    const found = await harness.stateOf(operation);
    const to = stays ? row.to : row.failed;
    expect(found?.state).toBe(published(to === "before" ? String(from) : to));
    await expectNothingLeft(row, operation);
  }

  async function expectNothingLeft(of: Transition, operation: OperationRecord): Promise<void> {
    if (of.to === "gone" && operation.state === "failed") {
      expectFree(await snapshotOf(cloud, harness.me.id));
      await harness.remove(operation);
    }
    expectConsistent(await snapshotOf(cloud, harness.me.id));
  }

  const rescuedAtFirst = (when: "before" | "after") => async () => {
    const result = await run(async ({ task, execution }, next) => {
      const done = when === "after" ? await next() : undefined;
      if (task === "begin" && !execution.endsWith("-undo")) throw new InjectedError("Boom");
      return when === "after" ? done : next();
    });
    expect(statusOf(result.operation.id)).toBe("FAILED");
    expect(tasksOf(result, rescueName(result.operation.id))).toEqual([...undos, "fail"]);
    await expectRescued(result, "INTERNAL_ERROR");
  };

  const rescuedAtLast = async () => {
    const result = await run(async ({ task }, next) => {
      if (task === "succeed") throw new InjectedError("Boom");
      return next();
    });
    expect(tasksOf(result, rescueName(result.operation.id))).toEqual([...undos, "fail"]);
    await expectRescued(result, "INTERNAL_ERROR", commits.length > 0);
  };

  const leftAlone = async () => {
    const { operation } = await run(async ({ task }, next) => {
      const done = await next();
      if (task === "succeed") throw new InjectedError("Boom");
      return done;
    });
    expect(operation).toMatchObject({ state: "succeeded", error: null });
    expect(statusOf(operation.id)).toBe("FAILED");
    expect(statusOf(rescueName(operation.id))).toBeUndefined();
    await expectNothingLeft(row, operation);
  };

  const ends: [how: string, expectEnd: () => Promise<void>][] = [
    ["an execution whose first task dies before its work is rescued", rescuedAtFirst("before")],
    ["an execution whose first task dies after its work is rescued", rescuedAtFirst("after")],
    ["an execution whose last task dies before its work is rescued", rescuedAtLast],
    ["an execution whose last task dies after its work has succeeded and is not rescued", leftAlone],
  ];
  test.each(some(ends, ends.length, place))("%s", (_, expectEnd) => expectEnd());

  test.each(some([...undos, "fail"], 2 * (undos.length + 1), place))(
    "an execution is rescued even if %s of its undo fails for good the first time",
    async (undo) => {
      const result = await run(async ({ task, execution, tries }, next) => {
        if (task === last) throw new InjectedError("GiveUp");
        if (task !== undo || execution.endsWith("-undo")) return next();
        if (tries <= 2) await next(); // if it survives two runs, it survives 61
        throw new InjectedError("TryAgain");
      });
      const tries = tasksOf(result, result.operation.id).filter((task) => task === undo).length;
      expect(tries).toBe(undo === "fail" ? 7 : 61);
      // The undo that throws is not the cause, so it is not reported unless the work had ended by then.
      if (undo === "fail") expect(result.operation).toMatchObject({ state: "failed", error: INJECTED });
      else await expectRescued(result, "HOST_JOB_FAILED");
      await expectNothingLeft(row, result.operation);
    },
  );

  test.each(
    some(
      steps.map(({ name }) => name),
      steps.length,
      place,
    ),
  )("an execution that is stopped in %s is rescued", async (name) => {
    const result = await run(async ({ task, execution }, next) => {
      const done = await next();
      if (task === name) await stop(execution);
      return done;
    });
    expect(statusOf(result.operation.id)).toBe("ABORTED");
    await expectRescued(result, "CANCELLED", commits.includes(name));
  });

  test.each(some([...undos, "fail"], 2 * (undos.length + 1), place + 1))(
    "an execution is abandoned if %s never works: the resource is released, the operation fails with a reason, and the operator is alerted",
    async (undo) => {
      const reported = undoFailed();
      const { operation } = await run(async ({ task }, next) => {
        if (task === last) throw new InjectedError("GiveUp");
        if (task === undo) throw new InjectedError("Boom");
        return next();
      });
      expect([operation.id, rescueName(operation.id)].map(statusOf)).toEqual(["FAILED", "FAILED"]);
      expect(operation).toMatchObject({ state: "failed", error: { code: "INTERNAL_ERROR" } });
      const abandoned = {
        state: operation.resource.type === "server" ? "offline" : "failed",
        reason: operation.error?.message,
      };
      expect(await harness.stateOf(operation)).toEqual(row.intact ? { state: row.from[0], reason: null } : abandoned);
      const snapshot = await snapshotOf(cloud, harness.me.id);
      for (const hold of [expectFree, expectMarkers, expectCounts]) hold(snapshot);
      await vi.waitFor(() => expect(undoFailed()).toBe(reported + 1));

      // Its owner can delete it, and then nothing of it is left anywhere.
      await harness.remove(operation);
      for (const { id, state } of (await snapshotOf(cloud, harness.me.id)).backups)
        if (state === "failed") await harness.remove({ ...operation, resource: { type: "backup", id } });
      expectConsistent(await snapshotOf(cloud, harness.me.id));
    },
  );
}
