// Undos whose cause does not go away at once, or never.
import { expect } from "vitest";
import { findOperation } from "../../shared/records/operations.ts";
import { published, type Intercept, InjectedError, startsOf } from "../workflows/harness.ts";
import { processCloud } from "../harness/cloud.ts";
import { expectConsistent, expectCounts, expectFree, expectMarkers, snapshotOf } from "../workflows/snapshot.ts";
import { prove } from "./prove.ts";
import { expectAtRest, leaseOf, tasksOf, whileUndoing, workflowRows } from "./workflow-attack.ts";

/** An undo is tried for an hour; what ends the operation, seven times. */
const TRIES = { undo: 61, fail: 7 };

const places = workflowRows.flatMap((row) =>
  startsOf(row).flatMap((from) =>
    tasksOf(row)
      .filter(({ isUndo }) => isUndo)
      .flatMap(({ name }) =>
        ["the cause goes", "the cause goes after the first execution has given up", "the cause stays"].map((course) => ({
          label: `${row.name}${from === undefined ? "" : ` from ${from}`}, ${name}: ${course}`,
          row,
          from,
          undo: name,
          course,
        })),
      ),
  ),
);
const byLabel = new Map(places.map((place) => [place.label, place]));

prove("undo", async () => {
  const cloud = await processCloud();
  const lease = leaseOf(cloud);
  const rescuer = cloud.template.functions.find(({ name }) => /rescue/i.test(name))?.name ?? "";
  /** How often the operators were alerted because of this operation: an error that names it, then the metric of the alarm. */
  const alarmsOf = (operationId: string): number => {
    const lines = cloud.lambda.logs(rescuer);
    return lines.filter(
      (line, index) =>
        line.includes(operationId) &&
        line.includes("the undo failed") &&
        lines.slice(index).some((later) => later.includes('"UndoFailed":1')),
    ).length;
  };

  return {
    points: places.map(({ label }) => label),
    close: lease.close,
    trial: async ({ point, random }) => {
      const place = byLabel.get(point);
      if (place === undefined) throw new Error(`There is no point ${point}`);
      const { row, from, undo, course } = place;
      const tries = undo === "fail" ? TRIES.fail : TRIES.undo;
      const until = course === "the cause goes" ? 1 + random.below(tries - 1) : tries;
      const works = random.chance(0.5);
      const intercept: Intercept = async (call, next) => {
        const isSecond = call.execution.endsWith("-undo");
        if (call.task !== undo) return next();
        if (course === "the cause stays") throw new InjectedError(random.chance(0.5) ? "Boom" : "GiveUp");
        if (isSecond || call.tries > until) return next();
        if (works && call.tries <= 2) await next(); // if it survives two runs, it survives 60
        throw new InjectedError("TryAgain");
      };
      await lease.use(async (harness) => {
        const ask = await harness.prepare(row.workflow, from);
        const { operation } = await harness.run(
          row.workflow,
          ask,
          whileUndoing(row, intercept, () => new InjectedError("GiveUp")),
        );
        if (course !== "the cause stays") {
          await expectAtRest(row, harness, operation, from, findOperation);
          expect(alarmsOf(operation.id), "alarms").toBe(0);
          return;
        }
        expect(operation).toMatchObject({ state: "failed", error: { code: "INTERNAL_ERROR" } });
        const resource = operation.resource.type === "server" ? "offline" : "failed";
        expect(await harness.stateOf(operation)).toEqual(
          row.row.resource === "account"
            ? undefined
            : row.row.intact
              ? { state: published(String(from)), reason: null }
              : { state: resource, reason: operation.error?.message },
        );
        const snapshot = await snapshotOf(cloud, harness.me.id);
        for (const hold of [expectFree, expectMarkers, expectCounts]) hold(snapshot);
        await expect.poll(() => alarmsOf(operation.id), { message: "alarms" }).toBe(1);
        // Its owner can delete it, and then nothing of it is left anywhere.
        await harness.remove(operation);
        for (const { id, state } of (await snapshotOf(cloud, harness.me.id)).backups)
          if (state === "failed") await harness.remove({ ...operation, resource: { type: "backup", id, name: null } });
        expectConsistent(await snapshotOf(cloud, harness.me.id));
      });
    },
  };
});
