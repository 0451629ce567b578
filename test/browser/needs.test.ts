// Which failures and alerts need a person, which instances lead the list of last nights, and the bars of a time line: functions
// of pages alone.
import { expect, test } from "vitest";
import { buildNightRows } from "../../dashboard/src/home/night-rows.ts";
import { barsOf } from "../../dashboard/src/events/bars.ts";
import { endedAt, resourceIdsOf, unresolvedFailures } from "../../dashboard/src/home/unresolved-failures.ts";
import { unlistedAlerts } from "../../dashboard/src/home/unlisted-alerts.ts";
import type { Alert } from "../../shared/api/alerts.ts";
import type { Operation } from "../../shared/api/operations.ts";
import type { Backup } from "../../shared/api/backups.ts";

/** `minute` is when it ended. */
function operation(type: Operation["type"], id: string, minute: number, instance_id: string | null = null): Operation {
  const at = new Date(Date.UTC(2026, 10, 26, 2, minute)).toISOString();
  return {
    id: `op_${type}_${id}_${minute}`,
    type,
    status: "failed",
    progress: 0,
    step: null,
    step_code: null,
    resource: { type: type.startsWith("backup") ? "backup" : "instance", id, name: "Shop" },
    instance_id,
    result: null,
    error: null,
    request_id: "request",
    created_by: { type: "schedule", id: "schedule", name: "Backup policy" },
    created_at: at,
    started_at: at,
    finished_at: at,
  };
}

test("a failure needs somebody until the same work succeeds, or what it was on is deleted", () => {
  const first = operation("backup.create", "bak_1", 0, "ins_1");
  const second = operation("backup.create", "bak_2", 20, "ins_1");
  const other = operation("backup.create", "bak_3", 5, "ins_2");
  const restart = operation("instance.restart", "ins_3", 1, "ins_3");
  const ids = (failed: Operation[], succeeded: Operation[]) => unresolvedFailures(failed, succeeded).map(({ id }) => id);
  expect(ids([first, second, other, restart], [])).toEqual([second.id, other.id, restart.id]);
  expect(ids([first, other], [second])).toEqual([other.id]);
  expect(ids([second], [first])).toEqual([second.id]);
  expect(ids([restart], [operation("instance.start", "ins_3", 2, "ins_3")])).toEqual([restart.id]);
  expect(ids([restart, other], [operation("instance.delete", "ins_3", 3, "ins_3")])).toEqual([other.id]);
  expect(ids([other], [operation("instance.delete", "ins_2", 9, "ins_2")])).toEqual([]);
});

test("beyond the newest successes, a failure is mended by what is known of its instance: a later backup, or that it is gone", () => {
  const backup = operation("backup.create", "bak_1", 10, "ins_1");
  const restart = operation("instance.restart", "ins_1", 9, "ins_1");
  const backedUpAt = (minute: number) => ({
    id: "ins_1",
    protection: { last_backup_at: endedAt(operation("backup.create", "bak_2", minute)) },
  });
  const ids = (subject: ReturnType<typeof backedUpAt> | null) =>
    unresolvedFailures([backup, restart], [], new Map([["ins_1", subject]])).map(({ id }) => id);
  expect(ids(backedUpAt(9))).toEqual([backup.id, restart.id]);
  expect(ids(backedUpAt(11))).toEqual([restart.id]);
  expect(ids(null)).toEqual([]);
  expect([backup, operation("backup.drill", "bak_3", 1, "ins_2")].map(resourceIdsOf)).toEqual([["ins_1"], ["ins_2", "bak_3"]]);
});

test("a time line has hours, days or weeks, and of each status at most a quarter of 300 points", () => {
  const last = new Date(2026, 10, 26, 12).getTime();
  const dayIn = (at: number) => new Date(new Date(at).setHours(0, 0, 0, 0));
  const over = (hours: number) => barsOf([last, last - hours * 3_600_000], dayIn);
  expect(
    [over(0), over(48), over(49), over(24 * 70), over(24 * 300), over(24 * 400)].map(({ step, bars }) => [step, bars.length]),
  ).toEqual([
    ["hour", 1],
    ["hour", 49],
    ["day", 3],
    ["day", 71],
    ["week", 44],
    ["week", 58],
  ]);
  for (const days of [0, 1, 2, 73, 74, 75, 76, 400]) {
    const { bars, placeOf } = over(24 * days);
    expect(bars.length).toBeLessThanOrEqual(75);
    expect([bars[0], bars.at(-1)]).toEqual([placeOf(last - days * 24 * 3_600_000), placeOf(last)]);
  }
  expect(barsOf([], dayIn).bars).toEqual([]);
});

test("an alert needs somebody unless the page says the same already; of several steps the worst does", () => {
  const alert = (kind: string, id: string, minute: number, threshold: number | null = null): Alert => ({
    id: `alr_${kind}_${id}_${threshold}`,
    kind,
    resource: { type: id.startsWith("srv") ? "server" : "instance", id, name: id },
    status: "open",
    value: null,
    threshold,
    operation_id: null,
    opened_at: new Date(Date.UTC(2026, 10, 26, 2, minute)).toISOString(),
    closed_at: null,
    muted_until: null,
  });
  const full = [alert("disk_free", "srv_1", 0, 15), alert("disk_free", "srv_1", 5, 5)];
  const down = [alert("down", "srv_2", 1), alert("down", "ins_1", 2)];
  const listed = ["backup_overdue", "drill_failed", "operation_failed"].map((kind) => alert(kind, "ins_2", 3));
  const memory = alert("memory_free", "srv_1", 4, 10);
  const unlistedIds = (offline: string[], lowDisks: string[]) =>
    unlistedAlerts([...full, ...down, ...listed, memory].toReversed(), {
      offline: new Set(offline),
      lowDisks: new Set(lowDisks),
    }).map(({ id }) => id);
  expect(unlistedIds([], [])).toEqual([full[1], memory, down[1], down[0]].map((each) => each?.id));
  expect(unlistedIds(["srv_2"], ["srv_1"])).toEqual([memory, down[1]].map((each) => each?.id));
  expect(unlistedIds(["srv_1"], ["srv_2"])).toEqual(unlistedIds([], []));
});

test("instances with trouble come first, the latest first, and of several backups on a day the best counts", () => {
  const passed = { status: "passed" as const };
  const backupsOf: Record<
    string,
    [day: string, fields?: Partial<Pick<Backup, "status">> & { drill?: { status: "passed" | "failed" } }][]
  > = {
    calm: [["2", { drill: passed }]],
    again: [["2"], ["2", { status: "failed" }]],
    earlier: [["2"], ["1", { status: "failed" }]],
    torn: [["2", { drill: { status: "failed" } }]],
    lost: [["2", { status: "failed" }], ["1", { status: "failed" }], ["0"]],
  };
  const nights = {
    isWhole: true,
    instances: Object.entries(backupsOf).map(([id, backups]) => ({
      id,
      name: id,
      backups: backups.map(([created_at, fields]) => ({ created_at, status: "completed" as const, ...fields })),
    })),
    overdue: [
      { id: "late", name: "late", protection: { last_backup_at: "-1" } },
      { id: "never", name: "never", protection: { last_backup_at: null } },
    ],
  };
  const rows = buildNightRows(nights, ["2", "1"], ({ created_at }) => created_at);
  expect(rows.map(({ id, cells }) => `${id}: ${cells.map(({ kind }) => kind).join(" ")}`)).toEqual([
    "late: none none",
    "never: none none",
    "lost: failed failed",
    "torn: drillFailed none",
    "earlier: completed failed",
    "again: completed none",
    "calm: completed none",
  ]);
  expect(rows.map(({ lastAt }) => lastAt)).toEqual(["-1", null, "0", "2", "2", "2", "2"]);
  const failing = [{ id: "failing", name: "failing", backups: [{ created_at: "2", status: "failed" as const }] }];
  const [row] = buildNightRows({ isWhole: true, instances: failing, overdue: [] }, ["2"], ({ created_at }) => created_at);
  expect(row?.lastAt).toBeUndefined(); // it may have one from before these nights
});

test("days that the newest backups do not reach are not known, and not without backups", () => {
  const instances = [
    { id: "daily", name: "daily", backups: ["4", "3", "2"].map((created_at) => ({ created_at, status: "completed" as const })) },
    { id: "rare", name: "rare", backups: [{ created_at: "3", status: "completed" as const }] },
  ];
  const days = ["4", "3", "2", "1"];
  const kinds = (isWhole: boolean) =>
    buildNightRows({ isWhole, instances, overdue: [] }, days, ({ created_at }) => created_at).map(({ cells }) =>
      cells.map(({ kind }) => kind),
    );
  expect(kinds(false)).toEqual([
    ["completed", "completed", "completed", "unknown"],
    ["none", "completed", "unknown", "unknown"], // of the day of the oldest, some may be missing
  ]);
  expect(kinds(true)[1]).toEqual(["none", "completed", "none", "none"]);
});
