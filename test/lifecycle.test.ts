// The table of states: what is allowed when, and where it leads, as the documentation says; and what must hold of any such table.
import { describe, expect, test } from "vitest";
import {
  abandonedState,
  afterSuccess,
  allowedActions,
  BACKUP_STATUSES,
  BACKUP_WAITING,
  CERTIFICATE_PENDING,
  CERTIFICATE_STATUSES,
  DRILL,
  EDITABLE,
  HEALTH,
  INSTANCE_ACTIONS,
  INSTANCE_RENAMABLE,
  INSTANCE_STATUSES,
  isFailure,
  isOpen,
  isServerPhase,
  LIFECYCLE,
  type OperatedType,
  OPEN_STATUSES,
  OPERATION,
  OPERATION_STATUSES,
  OPERATION_TYPES,
  type OperationType,
  phaseInWords,
  PROTECTION_STATUSES,
  SERVER_RENAMABLE,
  RESOURCE_TYPES,
  type ResourceType,
  RESTORABLE,
  SERVER_PHASES,
  SERVER_STATUSES,
  SERVING,
  statesFor,
  statusOf,
  type Transition,
  USABLE,
  WATCHED,
  WITHOUT_ERP,
  workflowOf,
  WORKFLOW_NAMES,
  WRITABLE,
} from "../shared/domain/lifecycle.ts";

const PHASES = Object.keys(SERVER_PHASES).filter(isServerPhase);
const STATES: Record<ResourceType, readonly string[]> = { server: PHASES, instance: INSTANCE_STATUSES, backup: BACKUP_STATUSES };
const rows = OPERATION_TYPES.map((type): { type: typeof type; row: Transition } => ({ type, row: LIFECYCLE[type] }));

describe("the statuses are those of the documentation", () => {
  test("of servers, instances, backups and operations, and of what instances have", () => {
    expect(SERVER_STATUSES).toEqual(["active", "provisioning", "offline"]);
    expect(INSTANCE_STATUSES).toEqual(
      "provisioning running stopping stopped starting restarting restoring updating failed deleting".split(" "),
    );
    expect(BACKUP_STATUSES).toEqual(["pending", "running", "completed", "failed", "deleting"]);
    expect(OPERATION_STATUSES).toEqual(["pending", "running", "succeeded", "failed"]);
    expect(PROTECTION_STATUSES).toEqual(["unprotected", "protected", "overdue"]);
    expect(CERTIFICATE_STATUSES).toEqual(["pending", "valid", "failing"]);
    expect(CERTIFICATE_STATUSES).toContain(CERTIFICATE_PENDING);
    expect(RESOURCE_TYPES).toEqual(["server", "instance", "backup"]);
    expect(DRILL).toEqual({ passed: "passed", failed: "failed" });
  });

  test("an operation is open until it has ended", () => {
    expect(Object.values(OPERATION)).toEqual(OPERATION_STATUSES);
    expect(OPERATION_STATUSES.filter(isOpen)).toEqual(["pending", "running"]);
    expect(OPEN_STATUSES).toEqual(["pending", "running"]);
  });

  test("users see a server's phase as one of three statuses, and the states of everything else as they are", () => {
    expect(Object.fromEntries(PHASES.map((phase) => [phase, statusOf("server", phase)]))).toEqual({
      creating: "provisioning",
      ready: "active",
      unreachable: "offline",
      create_failed: "offline",
      deleting: "offline",
      delete_failed: "offline",
    });
    for (const status of INSTANCE_STATUSES) expect(statusOf("instance", status)).toBe(status);
    expect(statusOf("backup", "deleting")).toBe("deleting");
    expect(statusOf("server", "toString")).toBe("toString");
    for (const none of ["toString", "", 1, null, undefined, { ready: 1 }, ["ready"]]) expect(isServerPhase(none)).toBe(false);
    expect(
      Object.fromEntries(
        Object.keys(SERVER_PHASES)
          .filter(isServerPhase)
          .map((phase) => [phase, phaseInWords(phase)]),
      ),
    ).toEqual({
      creating: "being created",
      ready: "active",
      unreachable: "offline",
      create_failed: "offline",
      deleting: "being deleted",
      delete_failed: "offline",
    });
  });
});

/**
 * The states of each kind of operation: where it begins, what it passes through, and where it ends if it succeeds and if it
 * fails.
 */
const DOCUMENTED = {
  "server.create": ["", "creating", "ready", "create_failed"],
  "server.delete": ["ready unreachable create_failed delete_failed", "deleting", "gone", "delete_failed"],
  "server.reboot": ["ready", "unchanged", "before", "before"],
  "server.update": ["ready", "unchanged", "before", "before"],
  "instance.create": ["", "provisioning", "running", "failed"],
  "instance.update": ["running stopped", "unchanged", "before", "before"],
  "instance.clone": ["", "provisioning", "running", "failed"],
  "instance.start": ["stopped failed", "starting", "running", "failed"],
  "instance.stop": ["running", "stopping", "stopped", "running"],
  "instance.restart": ["running failed", "restarting", "running", "failed"],
  "instance.delete": ["running stopped failed", "deleting", "gone", "failed"],
  "backup.create": ["", "pending running", "completed", "failed"],
  "backup.import": ["", "pending running", "completed", "failed"],
  "backup.delete": ["completed failed", "deleting", "gone", "failed"],
  "backup.drill": ["completed", "unchanged", "before", "before"],
  "backup.restore": ["running stopped failed", "restoring", "before", "before"],
  "instance.check_code": ["running stopped failed", "unchanged", "before", "before"],
  "instance.deploy": ["running stopped failed", "unchanged", "before", "before"],
  "bulk.run": ["", "unchanged", "before", "before"],
};

describe("every operation", () => {
  test("leads where the documentation says", () => {
    const entries = rows.map(({ type, row: { from, through, begun, to, failed } }) => {
      return [type, [from.join(" "), begun === undefined ? through : `${through} ${begun}`, to, failed]];
    });
    expect(Object.fromEntries(entries)).toEqual(DOCUMENTED);
  });

  test.each(rows)("$type works on its resource's own states", ({ type, row }) => {
    const exceptions: Partial<Record<OperationType, string>> = { "backup.restore": "instance", "bulk.run": "account" };
    expect(row.resource).toBe(exceptions[type] ?? type.split(".")[0]);
    const states = row.resource === "account" ? [] : STATES[row.resource];
    for (const state of row.from) expect(states).toContain(state);
    expect([...states, "unchanged"]).toContain(row.through);
    if (row.begun !== undefined) expect(states).toContain(row.begun);
    expect([...states, "gone", "before"]).toContain(row.to);
    expect([...states, "before"]).toContain(row.failed);
  });

  test("passes through a state in which no other may begin", () => {
    const begins = (resource: OperatedType): string[] => rows.flatMap(({ row }) => (row.resource === resource ? row.from : []));
    for (const { row } of rows) for (const state of [row.through, row.begun]) expect(begins(row.resource)).not.toContain(state);
  });

  test("leaves a resource that can still be deleted, wherever it ends", () => {
    for (const { row } of rows) {
      const { from }: Transition = row.resource === "account" ? { ...row, from: [] } : LIFECYCLE[`${row.resource}.delete`];
      const ends: string[] = [row.to, row.failed].filter((state) => state !== "gone" && state !== "before");
      for (const end of ends) expect(from).toContain(end);
    }
  });

  test("that creates a resource may be tried again only where its failure leads, and only an import", () => {
    const again = rows.flatMap(({ type, row }) => (row.again === undefined ? [] : [[type, row.from, row.again, row.failed]]));
    expect(again).toEqual([["backup.import", [], ["failed"], "failed"]]);
  });

  test("has a workflow of the same words", () => {
    expect(workflowOf("server.create")).toBe("create-server");
    expect(workflowOf("backup.restore")).toBe("restore-backup");
    expect(OPERATION_TYPES).toEqual(Object.keys(DOCUMENTED));
    expect(WORKFLOW_NAMES).toEqual(OPERATION_TYPES.map((type) => workflowOf(type)));
  });

  test("that could not be undone leaves a state that says so, but for work on a machine, a drill and a bulk action", () => {
    expect(Object.fromEntries(OPERATION_TYPES.map((type) => [type, abandonedState(type)]))).toEqual({
      ...Object.fromEntries(OPERATION_TYPES.map((type) => [type, "failed"])),
      "server.create": "create_failed",
      "server.delete": "delete_failed",
      "server.reboot": undefined,
      "server.update": undefined,
      "backup.drill": undefined,
      "instance.check_code": undefined,
      "bulk.run": undefined,
    });
  });
});

describe("the actions on an instance", () => {
  const ALLOWED = {
    start: "stopped failed",
    stop: "running",
    restart: "running failed",
    backup: "running stopped",
    restore: "running stopped failed",
    deploy: "running stopped failed",
    update: "running stopped",
    delete: "running stopped failed",
  };

  test("are allowed in the statuses that the documentation says", () => {
    expect(INSTANCE_ACTIONS).toEqual(Object.keys(ALLOWED));
    expect(Object.fromEntries(INSTANCE_ACTIONS.map((action) => [action, statesFor(action).join(" ")]))).toEqual(ALLOWED);
  });

  test("are none while an operation locks it, and without an ERP or an active server none but its deletion", () => {
    for (const status of INSTANCE_STATUSES) {
      const free = { status, heldBy: null, installed: true, server: "ready" } as const;
      const possible = INSTANCE_ACTIONS.filter((action) => ALLOWED[action].split(" ").includes(status));
      expect(allowedActions(free)).toEqual(possible);
      expect(allowedActions({ ...free, heldBy: "opr_1" })).toEqual([]);
      const deletion = possible.filter((action) => action === "delete");
      expect(allowedActions({ ...free, installed: false })).toEqual(deletion);
      for (const server of [undefined, ...PHASES.filter((phase) => phase !== "ready")])
        expect(allowedActions({ ...free, server })).toEqual(deletion);
    }
    expect(WITHOUT_ERP).toEqual(["delete"]);
  });
});

test("what else depends on a state", () => {
  const except = (all: readonly string[], ...some: string[]) => all.filter((state) => !some.includes(state));
  expect(EDITABLE).toEqual(except(BACKUP_STATUSES, "deleting"));
  expect(RESTORABLE).toEqual(["completed"]);
  expect(BACKUP_WAITING).toBe("pending");
  expect(WRITABLE).toEqual(["running", "stopped"]);
  expect(SERVING).toEqual(["running"]);
  expect(INSTANCE_RENAMABLE).toEqual(except(INSTANCE_STATUSES, "deleting"));
  expect(SERVER_RENAMABLE).toEqual(except(PHASES, "creating", "deleting"));
  expect(USABLE).toEqual(["ready"]);
  expect(WATCHED).toEqual(["ready", "unreachable"]);
  expect(HEALTH).toEqual({ responds: "ready", silent: "unreachable" });
});

test("a failure is a state that says so, and what had failed runs again after a restore", () => {
  const failures = [...PHASES, ...INSTANCE_STATUSES, ...BACKUP_STATUSES].filter(isFailure);
  expect([...new Set(failures)]).toEqual(["create_failed", "delete_failed", "failed"]);
  for (const type of ["backup.restore", "instance.deploy"] as const)
    expect(["running", "stopped", "failed"].map((before) => afterSuccess(type, before))).toEqual([
      "running",
      "stopped",
      "running",
    ]);
  expect(afterSuccess("instance.check_code", "failed")).toBe("failed");
});
