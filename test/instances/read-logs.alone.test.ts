// The function that reads logs from machines: what it leaves out, and where the next reading goes on.
import { expect, test, vi } from "vitest";
import * as z from "zod";

let lines: string[] = [];
const read = ({ since = "" }: { since?: string }): string => lines.filter((line) => line >= since.replace("Z", "")).join("\n");
vi.mock("../../shared/hosts/index.ts", () => ({
  readLog: (_server: unknown, request: { since?: string }) => Promise.resolve(read(request)),
  readWorkLog: () => Promise.resolve({ text: "# restart_erp\npassword=SECRETSECRET sealed-secret\n\u001b[0m\n", lines: 3 }),
}));
vi.mock("../../shared/operations/code/log-secrets.ts", () => ({ secretsInLogs: () => Promise.resolve(["sealed-secret"]) }));
const { handler } = await import("../../functions/read-logs.ts");

const OF_OPERATION = {
  account_id: "acc_1",
  server: { id: "srv_1", machine_id: null, ip_address: "203.0.113.7", ssh_port: 22, host_keys: [] },
  operation_id: "op_1",
};
/** A request for an instance's log while an operation is in progress. */
const OF_INSTANCE = { ...OF_OPERATION, instance_id: "ins_1", source: "erp", lines: 3 };

const Found = z.object({ lines: z.array(z.object({ message: z.string() })), truncated: z.boolean(), next: z.string() });
async function readWith(query: object) {
  const log = Found.parse(await handler({ ...OF_INSTANCE, ...query }));
  return { ...log, lines: log.lines.map(({ message }) => message) };
}
function log(ms: number, message: string): void {
  const fraction = String(ms).padStart(3, "0");
  lines.push(`2026-11-26T19:00:00.${fraction}000000Z 2026-11-26 19:00:00,${fraction} 7 INFO shop x: ${message}`);
}
const nextAt = (ms: number, seen: number): string => `2026-11-26T19:00:00.${String(ms).padStart(3, "0")}Z.${seen}`;

test("a log is followed without a gap, in portions, whatever is searched for, and a gap is told", async () => {
  for (const [ms, message] of [
    [1, "a"],
    [1, "b sealed-secret"],
    [2, "c"],
    [3, "d"],
  ] as const)
    log(ms, message);
  const first = await readWith({});
  expect(first).toEqual({ lines: ["b [redacted]", "c", "d"], truncated: true, next: nextAt(3, 1) });
  for (const [ms, message] of [
    [3, "e"],
    [4, "f"],
    [5, "g"],
    [6, "h"],
  ] as const)
    log(ms, message);
  const second = await readWith({ after: first.next });
  expect(second).toEqual({ lines: ["e", "f", "g"], truncated: false, next: nextAt(5, 1) });
  const third = await readWith({ after: second.next });
  expect(third).toEqual({ lines: ["h"], truncated: false, next: nextAt(6, 1) });
  expect(await readWith({ after: third.next })).toEqual({ lines: [], truncated: false, next: third.next });
  expect(await readWith({ after: first.next, search: "nothing" })).toEqual({ lines: [], truncated: false, next: third.next });
  lines = [];
  log(9, "after a rotation");
  expect(await readWith({ after: third.next })).toMatchObject({ lines: ["after a rotation"], truncated: true });
});

test("what comes later without a form of its own is not lost to whoever follows, in portions, too", async () => {
  lines = [];
  const print = (ms: number, text: string): void =>
    void lines.push(`2026-11-26T19:00:00.${String(ms).padStart(3, "0")}000000Z ${text}`);
  log(1, "started");
  const first = await readWith({});
  expect(first).toEqual({ lines: ["started"], truncated: false, next: nextAt(1, 1) });
  print(1, "printed at once");
  print(7, "printed later");
  for (const [ms, message] of [
    [8, "a"],
    [9, "b"],
  ] as const) {
    log(ms, message);
    print(ms, "  with more");
  }
  const second = await readWith({ after: first.next });
  expect(second).toEqual({
    lines: ["printed at once", "printed later", "a\n  with more"],
    truncated: false,
    next: nextAt(8, 2),
  });
  expect(await readWith({ after: second.next })).toEqual({ lines: ["b\n  with more"], truncated: false, next: nextAt(9, 2) });
  const messages = ["started\nprinted at once\nprinted later", "a\n  with more", "b\n  with more"];
  expect(await readWith({})).toMatchObject({ lines: messages });
});

test("the first lines of a log reach whoever follows it, also from a machine whose clock is late", async () => {
  lines = [];
  const { next } = await readWith({});
  const late = new Date(Date.now() - 60_000).toISOString().replace("Z", "000000Z");
  lines.push(`${late} first`);
  expect((await readWith({ after: next })).lines).toEqual(["first"]);
  const { next: since } = await readWith({ since: "2026-11-26T19:00:00.000Z", source: "database" });
  expect(since).toBe(late.replace("000000Z", "Z.1"));
});

test("a log of which the machine has sent the end alone is not whole, whatever is searched for", async () => {
  lines = [];
  log(1, "a");
  log(2, "b");
  lines.push("cut");
  expect(await readWith({ search: "nothing" })).toEqual({ lines: [], truncated: true, next: nextAt(2, 1) });
  expect(await readWith({ after: nextAt(0, 0) })).toEqual({ lines: ["a", "b"], truncated: true, next: nextAt(2, 1) });
});

test("what an operation has logged has no secrets and no control characters", async () => {
  expect(await handler(OF_OPERATION)).toBe("# restart_erp\npassword=[redacted] [redacted]\n\\x1b[0m\n");
});

test("parameters that no endpoint sends are not taken", async () => {
  for (const wrong of [{ after: "x" }, { source: "kernel" }, { instance_id: "../x" }, { since: "now" }])
    await expect(handler({ ...OF_INSTANCE, ...wrong })).rejects.toMatchObject({ name: "ZodError" });
  await expect(handler({ ...OF_OPERATION, operation_id: "op_1; reboot" })).rejects.toMatchObject({ name: "ZodError" });
});
