// What the sweep finds: operations without an execution, markers of ended ones, and machines that nobody knows.
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { Operation } from "../../shared/api/operations.ts";
import { keys } from "../../shared/data/keys.ts";
import { findOperation } from "../../shared/records/operations.ts";
import {
  addMachine,
  findMachine,
  listMachines,
  removeMachine,
  type SandboxMachine,
} from "../../shared/providers/sandbox/machines.ts";
import { updateOne } from "../../shared/data/table.ts";
import { newId } from "../../shared/domain/ids.ts";
import { rescueName } from "../../shared/domain/workflow.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { table, InjectedError, type WorkflowHarness, workflowHarness } from "./harness.ts";
import { expectConsistent, expectFree, snapshotOf } from "./snapshot.ts";

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

describe("the sweep", () => {
  let me: TestAccount;
  beforeAll(async () => {
    harness = await workflowHarness(cloud);
    me = harness.me;
  });
  afterAll(() => harness.close());
  const [creation] = table.filter(({ name }) => name === "create-server");
  if (creation === undefined) throw new Error("Nothing creates servers");

  test("the sweep rescues an operation whose execution died without an event", async () => {
    const events = new Set<string>();
    // The event is lost: the rescue dies whenever it is called, three times for each event.
    const back = cloud.lambda.intercept(async ({ functionName }, next) => {
      if (!/rescue/i.test(functionName)) return next();
      events.add(functionName);
      throw new InjectedError("Boom");
    });
    const { operation } = await harness.run(
      creation.workflow,
      await harness.prepare(creation.workflow),
      async ({ task }, next) => {
        if (task === "succeed") throw new InjectedError("Boom");
        return next();
      },
    );
    back();
    expect(events.size).toBe(1);
    expect(operation.state).toBe("running");
    await makeOld(operation.id);
    await sweep();
    expect(await findOperation(me.id, operation.id)).toMatchObject({ state: "failed" });
    expect(cloud.states.executions().find(({ name }) => name === rescueName(operation.id))?.status).toBe("SUCCEEDED");
    expectConsistent(await snapshotOf(cloud, me.id));
  });

  test("the sweep ignores running operations, and removes the markers of ended ones", async () => {
    const { operation } = await harness.run(
      creation.workflow,
      await harness.prepare(creation.workflow),
      async ({ task, payload }, next) => {
        if (task === "awaitMachine") {
          await makeOld(payload.input.operation_id);
          await cloud.events.fire("sweep");
        }
        return next();
      },
    );
    expect(operation.state).toBe("succeeded");
    await updateOne(
      keys.openOperation(operation.id),
      { set: { account_id: me.id, operation_id: operation.id, created_at: LONG_AGO } },
      { exists: false },
    );
    await sweep();
    expect(await findOperation(me.id, operation.id)).toEqual(operation);
    expectFree(await snapshotOf(cloud, me.id));
  });

  describe("comparing the provider with the table", () => {
    let machine: SandboxMachine;
    beforeEach(async () => {
      const server = await me.server();
      const ownMachine = (await listMachines()).find(({ server_id }) => server_id === server.id);
      if (ownMachine === undefined) throw new Error("The account has no machine");
      machine = { ...ownMachine, created_at: LONG_AGO };
    });
    /** A log line arrives from another thread; on a busy machine that takes a while. */
    const WRITTEN = { timeout: 60_000 };
    /** The metric of the last sweep. */
    const expectOrphans = (count: number) =>
      vi.waitFor(() => {
        const lines = cloud.lambda.logs(cloud.template.functions.find(({ name }) => /sweep/i.test(name))?.name ?? "");
        expect(lines.findLast((line) => line.includes('"OrphanMachines":'))).toContain(`"OrphanMachines":${count}`);
      }, WRITTEN);

    test("the sweep deletes and reports a machine whose server's record is gone", async () => {
      const orphan = { ...machine, machine_id: `orphan-${machine.machine_id}`, server_id: newId("server") };
      await addMachine(orphan);
      const young = {
        ...orphan,
        machine_id: `young-${machine.machine_id}`,
        server_id: newId("server"),
        created_at: new Date().toISOString(),
      };
      await addMachine(young);
      await sweep();
      expect(await findMachine(orphan.machine_id)).toBeUndefined();
      await expectOrphans(1);
      expect(await findMachine(young.machine_id), "it may belong to what has just begun").toBeDefined();
      await sweep();
      await expectOrphans(0);
    });

    test("the sweep deletes and reports a second machine of a server, and keeps the recorded one", async () => {
      const second = { ...machine, machine_id: `second-${machine.machine_id}` };
      await addMachine(second);
      await sweep();
      await expectOrphans(1);
      expect(await findMachine(second.machine_id)).toBeUndefined();
      expect(await findMachine(machine.machine_id)).toBeDefined();
    });

    test("the sweep reports and keeps a machine of an unknown operation, because the table may be an old one", async () => {
      const unknown = {
        ...machine,
        machine_id: `unknown-${machine.machine_id}`,
        server_id: newId("server"),
        operation_id: newId("operation"),
      };
      await addMachine(unknown);
      await sweep();
      await expectOrphans(1);
      expect(await findMachine(unknown.machine_id)).toBeDefined();
      await removeMachine(unknown.machine_id);
    });
  });

  test("an operation that the sweep and a request start at the same moment is started once", async () => {
    const other = await account();
    const responses = await Promise.all([other.api.post("/servers", await other.serverBody()), sweep(), sweep()]);
    await cloud.states.settled();
    const { id } = (await other.api.get("/operations")).as(Operation.array())[0] ?? { id: "" };
    expect(responses[0].status).toBe(201);
    expect(cloud.states.executions().filter(({ name }) => name === id)).toHaveLength(1);
  });
});
