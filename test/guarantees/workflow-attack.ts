// What the attacks on workflows share: an account that is used for some runs, and what must be true once a run has ended.
import { expect } from "vitest";
import type { OperationRecord } from "../../shared/records/schemas/operation.ts";
import { afterSuccess, type State } from "../../shared/domain/lifecycle.ts";
import {
  type Intercept,
  isOnMachine,
  published,
  type Row,
  table,
  undosOf,
  type WorkflowHarness,
  workflowHarness,
} from "../workflows/harness.ts";
import { sweepAll } from "../workflows/repair.ts";
import { expectConsistent, expectFree, snapshotOf } from "../workflows/snapshot.ts";
import type { TestCloud } from "../harness/facts.ts";

/** Everything in the account is read after each run, so it must not grow for long. */
const RUNS_PER_ACCOUNT = 20;

export interface Lease {
  use: <T>(work: (harness: WorkflowHarness) => Promise<T>) => Promise<T>;
  close: () => void;
}

/** One account for many runs, and another one after a violation, because nothing is certain about the first any more. */
export function leaseOf(cloud: TestCloud): Lease {
  let harness: WorkflowHarness | undefined;
  let uses = 0;
  const close = (): void => {
    harness?.close();
    harness = undefined;
  };
  return {
    close,
    use: async (work) => {
      if (++uses % RUNS_PER_ACCOUNT === 0) close();
      harness ??= await workflowHarness(cloud, { seeded: true });
      try {
        return await work(harness);
      } catch (error) {
        close();
        throw error;
      }
    },
  };
}

/** Every task of a workflow: its steps, their undos, and what begins and ends it. */
export const tasksOf = ({ workflow: { steps } }: Row): { name: string; isUndo: boolean; isPoll: boolean }[] => [
  ...["begin", ...steps.map(({ name }) => name), "succeed"].map((name) => ({
    name,
    isUndo: false,
    isPoll: steps.some((step) => step.name === name && step.kind === "poll"),
  })),
  ...[...new Set(undosOf(steps)), "fail"].map((name) => ({ name, isUndo: true, isPoll: false })),
];

/** Makes the last step fail once it has done its work, so that everything is undone, and intercepts as well. */
export function whileUndoing({ workflow: { steps } }: Row, intercept: Intercept, error: () => Error): Intercept {
  const last = steps.findLast(({ commits }) => commits !== true)?.name;
  return async (call, next) =>
    intercept(call, async (payload) => {
      const result = await next(payload);
      if (call.task === last) throw error();
      return result;
    });
}

const ENDS = ["succeeded", "failed"];

/**
 * Whatever happened: the operation has ended, its resource is in the state that the lifecycle names for that end, and the table,
 * the machines and the store agree, item for item. The sweep may have to help.
 */
export async function expectAtRest(
  { row }: Row,
  harness: WorkflowHarness,
  { id }: OperationRecord,
  from: State | undefined,
  find: Find,
): Promise<void> {
  const { cloud, me } = harness;
  const isAtRest = async (): Promise<boolean> =>
    snapshotOf(cloud, me.id)
      .then(expectConsistent)
      .then(
        () => true,
        () => false,
      );
  if (!(await isAtRest())) await sweepAll(cloud, me.id);
  const operation = await find(me.id, id);
  expect(ENDS, "how the operation ended").toContain(operation?.state);
  if (operation === undefined) return;
  const succeeded = operation.state === "succeeded";
  const to = succeeded ? row.to : row.failed;
  const before = succeeded ? afterSuccess(operation.type, String(from)) : String(from);
  const resource = await harness.stateOf(operation);
  expect(resource?.state, `the resource after ${operation.type} ${operation.state}`).toBe(
    to === "gone" || row.resource === "account" ? undefined : published(to === "before" ? before : to),
  );
  const reason = isOnMachine(row) && !succeeded ? operation.error?.message : null;
  if (resource !== undefined && !resource.state.endsWith("failed") && resource.state !== "offline")
    expect(resource.reason).toBe(reason);
  if (row.to === "gone" && !succeeded) {
    expectFree(await snapshotOf(cloud, me.id));
    await harness.remove(operation);
  }
  expectConsistent(await snapshotOf(cloud, me.id));
}
type Find = (accountId: string, id: string) => Promise<OperationRecord | undefined>;

export { table as workflowRows };
