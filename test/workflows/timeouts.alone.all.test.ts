// Waits that never end: each poll times out, and each execution after the sum of its limits.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, inject, test } from "vitest";
import * as z from "zod";
import { SETTINGS } from "../../infra/settings.ts";
import { limited } from "../../infra/workflow.ts";
import { getInstance } from "../../shared/records/instances.ts";
import { keys } from "../../shared/data/keys.ts";
import { beginJob, listMachines } from "../../shared/providers/sandbox/machines.ts";
import type { OperationRecord } from "../../shared/records/schemas/operation.ts";
import { findInstancesOf } from "../../shared/operations/forecasts/server-work.ts";
import { getServer } from "../../shared/records/servers.ts";
import { putIfAbsent, removeOne, updateOne } from "../../shared/data/table.ts";
import { jobIdFor } from "../../shared/runtime/tasks.ts";
import { rescueName, listWaits } from "../../shared/domain/workflow.ts";
import { ownCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { type Payload, table, undosOf, type WorkflowHarness, workflowHarness } from "./harness.ts";
import { expectConsistent, expectFree, snapshotOf } from "./snapshot.ts";

/** Long enough for every operation to reach its last step, even on a busy machine. */
const SECONDS = 20;

/** How an operation ends that only had to clean up. */
const STAYS = { state: "succeeded", error: null };

/** The synthesized app with shorter TimeoutSeconds, because the real ones are hours. */
function hurried(): string {
  const outDir = mkdtempSync(join(tmpdir(), "hurried-"));
  cpSync(inject("outDir"), outDir, { recursive: true });
  for (const name of readdirSync(outDir).filter((file) => file.endsWith(".template.json"))) {
    const file = join(outDir, name);
    const template = readFileSync(file, "utf8");
    const changed = template.replaceAll(/(\\"TimeoutSeconds\\":)\d{3,}(?=\})/g, `$1${SECONDS}`);
    expect(changed).not.toBe(template);
    writeFileSync(file, changed);
  }
  return outDir;
}

let cloud: TestCloud;
/** One account per workflow. */
const harnesses = new Map<string, Promise<WorkflowHarness>>();
function open(name: string): Promise<WorkflowHarness> {
  const opened = workflowHarness(cloud, { seeded: true });
  harnesses.set(name, opened);
  return opened;
}
beforeAll(async () => {
  const outDir = hurried();
  cloud = await ownCloud({ outDir, timeScale: 0 });
  return () => rmSync(outDir, { recursive: true });
});

const NEVER = "2999-01-01T00:00:00.000Z";
const Ids = z.looseObject({
  account_id: z.string(),
  operation_id: z.string(),
  server_id: z.string().optional(),
  instance_id: z.string().optional(),
});

/** Makes the machine's job of a task one that started and never gets ready; a machine that is being created never runs. */
async function stall({ task, input }: Payload): Promise<void> {
  const { account_id, operation_id, ...ids } = Ids.parse(input);
  for (const { machine_id } of (await listMachines()).filter((machine) => machine.operation_id === operation_id))
    await updateOne(
      keys.sandboxMachine(machine_id),
      { set: { running_at: task === "awaitMachine" ? NEVER : "2026-01-01T00:00:00.000Z" } },
      {},
    );
  const serverId = ids.server_id ?? (await getInstance(account_id, ids.instance_id ?? "")).server_id;
  const server = await getServer(account_id, serverId);
  if (server.machine_id === null) return;
  const job = jobIdFor({ id: operation_id }, task);
  const ofInstances = ((await findInstancesOf(server)) ?? []).map(({ id }) => `${job}-${id}`);
  for (const id of [job, ...ofInstances]) await beginJob(server.machine_id, id, "stalled", NEVER);
  if (task === WAITS_FOR_OTHERS) await putIfAbsent(keys.drill(account_id, serverId), { operation_id: "op_other" });
}

const WAITS_FOR_OTHERS = "awaitQuiet";

/** What `stall` let another operation have. */
async function release(operation: OperationRecord): Promise<void> {
  await removeOne(keys.drill(operation.account_id, operation.resource.id));
}

/** Polls that the sandbox cannot keep waiting, and those with nothing to do in what is asked for here. */
const ALWAYS_READY: readonly string[] = [
  "create-server requestMachine",
  "delete-server releaseMachine",
  "run-bulk runItems",
  // The commits are those of the deploy that is rolled back to, and no rehearsal has its data.
  "deploy-instance resolveCode",
  "deploy-instance awaitPlace",
  "deploy-instance rehearse",
];

/** Polls that name an error of their own. */
const ERRORS: Readonly<Record<string, object>> = { "deploy-instance awaitHealthy": { code: "HEALTH_CHECK_FAILED" } };

const polls = table.flatMap((each) =>
  each.workflow.steps.flatMap((step, index) =>
    step.kind === "poll" && !ALWAYS_READY.includes(`${each.name} ${step.name}`)
      ? [{ ...each, step, index, poll: step.name }]
      : [],
  ),
);

/** Runs every workflow, so that all functions are warm before the executions' own time starts. */
describe.each(polls)("$name, when $poll never gets ready", ({ workflow, row, step, index }) => {
  test("the operation fails with TIMEOUT and is undone", async () => {
    const harness = await (harnesses.get(workflow.name) ?? open(workflow.name));
    // A restore stops the ERP again only if it was stopped before.
    const from = row.from.find((state) => state === "stopped") ?? row.from[0];
    const { operation, tasks } = await harness.run(
      workflow,
      await harness.prepare(workflow, from),
      async ({ task, payload }, next) => {
        if (task === step.name) await stall(payload);
        return next();
      },
    );
    expect(tasks.filter(({ task }) => task === step.name)).toHaveLength(1 + listWaits(limited(step, SETTINGS.test.polls)).length);
    if ("commits" in step) expect(operation).toMatchObject(STAYS);
    else
      expect(operation).toMatchObject({
        state: "failed",
        error: ERRORS[`${workflow.name} ${step.name}`] ?? { code: "TIMEOUT", message: expect.stringContaining(step.label) },
      });
    if (step.name === WAITS_FOR_OTHERS) await release(operation);
    const order = tasks.map(({ task }) => task);
    expect(order.slice(order.lastIndexOf(step.name) + 1)).toEqual([...undosOf(workflow.steps.slice(0, index + 1)), "fail"]);
    if (row.to === "gone") {
      expectFree(await snapshotOf(cloud, harness.me.id));
      await harness.remove(operation);
    }
    expectConsistent(await snapshotOf(cloud, harness.me.id));
  });
});

test("a poll that retries logs no error", () => {
  const lines = cloud.template.functions.flatMap(({ name }) => cloud.lambda.logs(name)).filter((line) => line.includes("NotYet"));
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ level: "DEBUG" });
});

test("executions of every workflow that time out are rescued with TIMEOUT", async () => {
  const ready = await Promise.all(
    table.map(async (each) => ({ ...each, harness: await (harnesses.get(each.name) ?? open(each.name)) })),
  );
  const statusOf = (name: string) => cloud.states.executions().find((each) => each.name === name)?.status;
  const prepared = [];
  // One after another, because one intercepts what another prepares.
  for (const each of ready) prepared.push({ ...each, ask: await each.harness.prepare(each.workflow, each.row.from[0]) });
  // Their threads have loaded when the executions' own time begins to count: an invocation without an operation does nothing
  // else.
  const functions = cloud.template.functions.filter(({ name }) => name.includes("tasks"));
  await Promise.allSettled(functions.map(({ name }) => cloud.invoke(name, {})));
  const runs = prepared.map(async ({ workflow, row, harness, ask }) => {
    const last = workflow.steps.at(-1);
    let inTime = false; // a busy machine may not get as far as the last step
    const { operation } = await harness.run(workflow, ask, async ({ task, execution }, next) => {
      const result = await next();
      if (task === last?.name && !execution.endsWith("-undo")) {
        inTime = statusOf(execution) === "RUNNING";
        await sleep(SECONDS * 1000 + 500);
      }
      return result;
    });
    return { row, harness, operation, stays: inTime && last?.commits === true };
  });
  for (const { row, harness, operation, stays } of await Promise.all(runs)) {
    expect([operation.id, rescueName(operation.id)].map(statusOf), operation.type).toEqual(["TIMED_OUT", "SUCCEEDED"]);
    expect(operation).toMatchObject(stays ? STAYS : { state: "failed", error: { code: "TIMEOUT" } });
    if (row.to === "gone") {
      expectFree(await snapshotOf(cloud, harness.me.id));
      await harness.remove(operation);
    }
    expectConsistent(await snapshotOf(cloud, harness.me.id));
  }
});
