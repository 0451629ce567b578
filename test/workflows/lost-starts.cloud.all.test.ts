// Lost starts of every workflow, from every status: the request is withdrawn completely, or the sweep starts the operation.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keys } from "../../shared/data/keys.ts";
import { findOperation } from "../../shared/records/operations.ts";
import { queryAll, updateOne } from "../../shared/data/table.ts";
import type { ApiResponse } from "../harness/client.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { startsOf, table, type WorkflowHarness, workflowHarness } from "./harness.ts";
import { expectConsistent, snapshotOf } from "./snapshot.ts";

let cloud: TestCloud;
let harness: WorkflowHarness;
beforeAll(async () => {
  cloud = await processCloud();
});

const LONG_AGO = "2026-01-01T00:00:00.000Z";
const sweep = async () => {
  await cloud.events.fire("sweep");
  await cloud.states.settled();
};

/** The sweep ignores what has just started. */
const makeOld = (operationId: string) => updateOne(keys.openOperation(operationId), { set: { created_at: LONG_AGO } }, {});

const unavailable = (response: ApiResponse) => {
  expect(response.error?.code).toBe("SERVICE_UNAVAILABLE");
  expect(response.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
};

/** A snapshot that is equal before and after a withdrawn request: without assigned numbers and times of writing. */
async function comparable() {
  const {
    account,
    counts: _counts,
    overview: _overview,
    servers,
    instances,
    uploads,
    ...snapshot
  } = await snapshotOf(cloud, harness.me.id);
  const { used_server, used_instance } = account;
  const events = await queryAll(keys.record("event", harness.me.id, "").pk, { consistent: true });
  const concerned = [...instances, ...snapshot.backups].map(({ id }) => keys.operationOf(harness.me.id, id, "").pk);
  const links = await Promise.all(concerned.map((pk) => queryAll(pk, { consistent: true })));
  const at = <T extends { updated_at: string }>(records: readonly T[]) =>
    records.map((record) => ({ ...record, updated_at: "" }));
  // Which write was the last one (shared/data/table.ts) may differ.
  const unmarked = uploads.map((upload) => ({ ...upload, written_by: undefined }));
  return {
    ...snapshot,
    used_server,
    used_instance,
    servers: at(servers),
    instances: at(instances),
    uploads: unmarked,
    events,
    links,
  };
}

const cases = table.flatMap((each) => startsOf(each).map((from) => ({ ...each, from })));

describe.each(cases)("$name from $from, when its start fails", ({ workflow, from }) => {
  beforeAll(async () => {
    harness = await workflowHarness(cloud, { seeded: true });
  });
  afterAll(() => harness.close());

  test("a request whose start fails gets 503 and is withdrawn completely; a retry succeeds", async () => {
    const ask = await harness.prepare(workflow, from);
    const before = await comparable();
    cloud.aws.outage("states", true);
    try {
      unavailable(await ask());
    } finally {
      cloud.aws.outage("states", false);
    }
    expect(await comparable()).toEqual(before);
    expect((await harness.run(workflow, ask)).operation.state).toBe("succeeded");
    expectConsistent(await snapshotOf(cloud, harness.me.id));
  });
});

describe.each(table)("$name, when its start fails and so does taking it back", ({ workflow, row }) => {
  beforeAll(async () => {
    harness = await workflowHarness(cloud, { seeded: true });
  });
  afterAll(() => harness.close());

  test("an operation that was neither started nor withdrawn is started by the sweep, once", async () => {
    const ask = await harness.prepare(workflow, row.from[0]);
    const unsubscribe = cloud.aws.calls.subscribe(({ action }) => {
      if (action === "StartExecution") cloud.aws.outage("dynamodb", true);
    });
    cloud.aws.outage("states", true);
    try {
      expect((await ask()).status).toBeGreaterThanOrEqual(500);
    } finally {
      unsubscribe();
      cloud.aws.outage("states", false);
      cloud.aws.outage("dynamodb", false);
    }
    const { open } = await snapshotOf(cloud, harness.me.id);
    const id = String(open[0]?.["operation_id"]);
    await sweep();
    expect((await findOperation(harness.me.id, id))?.state, "one that has just begun is left alone").toBe("pending");
    await makeOld(id);
    await sweep();
    await sweep();
    expect(await findOperation(harness.me.id, id)).toMatchObject({ state: "succeeded" });
    expect(cloud.states.executions().filter(({ name }) => name.startsWith(id))).toHaveLength(1);
    expectConsistent(await snapshotOf(cloud, harness.me.id));
  });
});
