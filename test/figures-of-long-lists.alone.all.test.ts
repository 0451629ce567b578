// What a page of a very long list may cost, wherever it is: calls to DynamoDB and its capacity.
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { BackupRecord } from "../shared/records/schemas/backup.ts";
import { InstanceRecord } from "../shared/records/schemas/instance.ts";
import { ServerRecord } from "../shared/records/schemas/server.ts";
import { keys, type ListKind, placement } from "../shared/data/keys.ts";
import { countPlace, formatNumber } from "../shared/data/numbers.ts";
import { SERVER_PHASES } from "../shared/domain/lifecycle.ts";
import { account, type TestAccount, unusedId } from "./harness/account.ts";
import type { ApiResponse } from "./harness/client.ts";
import { ownCloud } from "./harness/cloud.ts";
import type { TestCloud } from "./harness/facts.ts";
import { costIn } from "./harness/cost.ts";
import { backupFields, instanceFields, serverFields } from "./harness/seed.ts";
import { writeItems } from "./harness/seed-many.ts";

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await ownCloud();
});

const costOf = (id: string, request: () => Promise<ApiResponse>) => costIn(cloud, id, request);

describe("a page of 20 of 100,000", () => {
  const RECORDS = 100_000;
  /** A page of servers also reads what each last reported, half a unit each. */
  const MAX = { server: { calls: 3, units: 21 }, instance: { calls: 3, units: 11 }, backup: { calls: 2, units: 11 } } as const;
  const STATUSES = 3;
  /** Eight pages of 20 with one status, and one more page. */
  const READ_AT_ENDS = 9 * 20 * STATUSES;

  /** The counts of all of them; the records only where the test reads pages, because the others cost nothing. */
  const isRead = (serial: number) =>
    Math.min(serial, RECORDS - serial) <= READ_AT_ENDS || Math.abs(serial - RECORDS / 2) <= READ_AT_ENDS / 2;

  interface Sort {
    kind: ListKind & ("server" | "instance" | "backup");
    path: string;
    statuses: [state: string, status: string][];
    record: (accountId: string, id: string, number: string, state: string) => Record<string, unknown>;
  }
  const parent = { id: unusedId("instance"), server_id: unusedId("server"), name: "Shop".padEnd(64, "p") };
  const SORTS: Sort[] = [
    {
      kind: "server",
      path: "/servers",
      statuses: [
        ["ready", SERVER_PHASES.ready],
        ["unreachable", SERVER_PHASES.unreachable],
        ["creating", SERVER_PHASES.creating],
      ],
      record: (a, id, number, state) =>
        ServerRecord.parse({
          ...serverFields(a, id, number),
          state,
          name: id.replace("_", "-").padEnd(63, "x"),
          status_reason: "R".repeat(60),
        }),
    },
    {
      kind: "instance",
      path: "/instances",
      statuses: [
        ["running", "running"],
        ["stopped", "stopped"],
        ["failed", "failed"],
      ],
      record: (a, id, number, state) =>
        InstanceRecord.parse({ ...instanceFields(a, id, number, parent.server_id), state, name: "Shop".padEnd(64, "p") }),
    },
    {
      kind: "backup",
      path: "/backups",
      statuses: [
        ["completed", "completed"],
        ["failed", "failed"],
        ["running", "running"],
      ],
      record: (a, id, number, state) =>
        BackupRecord.parse({ ...backupFields(a, id, number, parent), state, note: "before the upgrade" }),
    },
  ];

  describe.each(SORTS)("$path", ({ kind, path, statuses, record }) => {
    let them: TestAccount;

    beforeAll(async () => {
      them = await account();
      const counts = new Map<string, Record<string, unknown>>();
      const items: Record<string, unknown>[] = [];
      for (let serial = 0; serial < RECORDS; serial++) {
        const [state = "", status = ""] = statuses[serial % STATUSES] ?? [];
        const { leaf, attribute } = countPlace(formatNumber(serial, ""));
        for (const filter of ["all", status]) {
          const key = keys.count(kind, them.id, filter, leaf);
          const item = counts.get(key.sk) ?? { ...key };
          item[attribute] = Number(item[attribute] ?? 0) + 1;
          counts.set(key.sk, item);
        }
        if (!isRead(serial)) continue;
        const id = unusedId(kind);
        const number = formatNumber(serial, id);
        items.push({
          ...record(them.id, id, number, state),
          ...keys.record(kind, them.id, id),
          ...placement(kind, them.id, number, { status, parentId: parent.server_id }),
        });
      }
      await writeItems([...counts.values(), ...items]);
    });

    // Eight consecutive pages start at each possible position inside a block of counts.
    const lastPage = (total: number) => Math.ceil(total / 20);
    test.each([
      ["at the beginning", () => 1],
      ["in the middle", (total: number) => Math.floor(lastPage(total) / 2) - 3],
      ["at the end", (total: number) => lastPage(total) - 7],
    ] as const)("a page of 20 of 100,000 records (%s) costs what the table says, with or without a status", async (_, first) => {
      const { api } = await them.token();
      const filters = statuses.map(([, each]) => each);
      for (const status of [undefined, ...filters]) {
        const total =
          status === undefined ? RECORDS : Math.ceil((RECORDS - statuses.findIndex(([, each]) => each === status)) / STATUSES);
        const pages = Array.from({ length: 8 }, (_, after) => first(total) + after);
        for (const page of pages) {
          const query = `page=${page}${status === undefined ? "" : `&status=${status}`}`;
          const { response, handler } = await costOf(`${kind}s.list`, () => api.get(`${path}?${query}`));
          expect(response.meta, query).toMatchObject({ page, per_page: 20, total });
          const records = response.as(z.array(z.object({ id: z.string(), status: z.string() })));
          expect(records, query).toHaveLength(Math.min(20, total - (page - 1) * 20));
          if (status !== undefined) expect(new Set(records.map((each) => each.status))).toEqual(new Set([status]));
          expect(handler.length, query).toBeLessThanOrEqual(MAX[kind].calls);
          expect(
            handler.reduce((sum, call) => sum + (call.capacity ?? 0), 0),
            query,
          ).toBeLessThanOrEqual(MAX[kind].units);
        }
      }
    });

    test("the next page of 100,000 records costs the same", async () => {
      const { api } = await them.token();
      const { next_cursor } = (await api.get(`${path}?page=2501`)).meta ?? {};
      const { response, handler } = await costOf(`${kind}s.list`, () => api.get(`${path}?cursor=${next_cursor}`));
      expect(response.meta?.total).toBe(RECORDS);
      expect(handler.length).toBeLessThanOrEqual(MAX[kind].calls);
      expect(handler.reduce((sum, call) => sum + (call.capacity ?? 0), 0)).toBeLessThanOrEqual(MAX[kind].units);
    });
  });
});
