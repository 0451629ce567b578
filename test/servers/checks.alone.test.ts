// Which servers a run of the health check takes, in which order, and what becomes of those that it does not reach.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { BEGIN_SECONDS, handler } from "../../functions/schedules/check-servers.ts";
import { keys } from "../../shared/data/keys.ts";
import { watchedServers } from "../../shared/records/machines.ts";
import type { WatchedServer } from "../../shared/records/schemas/server.ts";
import { newId } from "../../shared/domain/ids.ts";
import { serverFields } from "../harness/seed.ts";
import { type Local, SECRET, startLocal, useLocal } from "../local/services.ts";

const WHOLE = { part: 0, parts: 1 };

let local: Local;
let documents: DynamoDBDocumentClient;
beforeAll(async () => {
  local = await startLocal();
  useLocal(local, {
    HOSTS_KEY: SECRET,
    TABLE_NAME: "service",
    ENVIRONMENT: "test",
  });
  documents = DynamoDBDocumentClient.from(new DynamoDBClient(local.as("operator")));
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => local.stop());

const accountId = newId("account");
const AT = "2026-11-20T12:0";
const CHECKED: Partial<WatchedServer>[] = [
  { last_seen_at: `${AT}3:00.000Z` },
  { last_seen_at: null },
  { last_seen_at: `${AT}1:00.000Z`, silent_at: `${AT}4:00.000Z` },
  { last_seen_at: `${AT}2:00.000Z` },
  { last_seen_at: null, silent_at: `${AT}1:00.000Z` },
];
const ids = CHECKED.map(() => newId("server"));
const nameOf = (id: string): number => ids.indexOf(id);

beforeEach(async () => {
  for (const [index, checked] of CHECKED.entries()) {
    const id = ids[index] ?? "";
    const server = { ...keys.record("server", accountId, id), ...serverFields(accountId, id, String(index)) };
    const marker = { ...keys.watchedServer(id), account_id: accountId, server_id: id, ...checked };
    for (const Item of [server, marker]) await documents.send(new PutCommand({ TableName: "service", Item }));
  }
});

const order = async (part = WHOLE): Promise<number[]> => (await watchedServers(part)).map(({ server }) => nameOf(server.id));

test("the server whose last check is the oldest comes first, whether it responded then or not", async () => {
  expect(await order()).toEqual([1, 4, 3, 0, 2]);
});

test("runs beside each other share the servers", async () => {
  const parts = await Promise.all([0, 1, 2].map((part) => order({ part, parts: 3 })));
  expect(parts.flat().toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4]);
});

test("a run that has no time left says how many servers it did not reach, and the next one checks them, oldest first", async () => {
  const began = Date.now();
  const clock = vi.spyOn(Date, "now").mockReturnValueOnce(began);
  clock.mockReturnValue(began + BEGIN_SECONDS * 1000);
  await expect(handler({ part: 0, parts: 1 })).rejects.toThrow(`5 servers were not reached within ${BEGIN_SECONDS} s`);
  clock.mockRestore();
  expect(await order()).toEqual([1, 4, 3, 0, 2]);
  await handler({ source: "aws.events" }); // as the schedule of an earlier version sends it
  const checked = (await watchedServers(WHOLE)).map(({ watched }) => watched.silent_at ?? "");
  expect(checked.every((at) => at > new Date(began).toISOString())).toBe(true);
});
