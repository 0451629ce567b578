// Concurrent histories: whatever runs at the same time, the result is that of some order of the requests, totals equal a recount,
// and a list that is walked by cursor misses nothing that was there all the time.
import { expect } from "vitest";
import * as z from "zod";
import * as settings from "../../shared/api/settings.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, newPublicKey, type TestAccount, unique } from "../harness/account.ts";
import type { ApiResponse, Client } from "../harness/client.ts";
import { processCloud } from "../harness/cloud.ts";
import { giveUpEarly } from "../harness/held-work.ts";
import { listRoutes } from "../harness/requests.ts";
import { expectCounts, expectEntries, expectFree, expectMarkers, snapshotOf } from "../workflows/snapshot.ts";
import { prove } from "./prove.ts";
import type { Random } from "./random.ts";

const Listed = z.array(z.looseObject({ id: z.string(), created_at: z.string(), status: z.string().optional() }));
const WRITERS = 4;
const STEPS = 5;

/** A register with compare-and-set: the retention days, which each writer increases if nobody else has in the meantime. */
async function increments(api: Client): Promise<number> {
  let successes = 0;
  for (let step = 0; step < STEPS; step++) {
    const current = await api.get("/settings");
    const days = current.as(settings.get().data).backup_retention_days;
    const written = await api.put(
      "/settings",
      { backup_retention_days: days + 1 },
      { headers: { "if-match": String(current.headers["etag"]) } },
    );
    if (written.status === 200) {
      expect(written.as(settings.update().data).backup_retention_days).toBe(days + 1);
      successes += 1;
    } else expect(written.status).toBe(412);
  }
  return successes;
}

interface History {
  me: TestAccount;
  /** A server that is active and an instance that runs, as far as the table knows. */
  home: string;
  shop: string;
  random: Random;
}

const Made = z.looseObject({ id: z.string() });

/** Adds servers, instances, backups, tokens and keys, and removes keys. */
async function changes({ me, home, shop, random }: History): Promise<void> {
  const { api } = await me.token();
  const keyIds: string[] = [];
  const kinds: (() => Promise<void>)[] = [
    async () => {
      const [oldest] = keyIds.splice(0, 1);
      if (oldest !== undefined) expect((await api.delete(`/ssh-keys/${oldest}`)).status).toBe(200);
    },
    async () => {
      const key = { name: unique("key"), public_key: newPublicKey() };
      keyIds.push((await api.post("/ssh-keys", key)).as(Made).id);
    },
    async () => expect((await api.post("/servers", await me.serverBody())).status).toBe(201),
    async () => expect((await api.post("/instances", await me.instanceBody({ server_id: home }))).status).toBe(201),
    async () => expect([201, 409]).toContain((await api.post(`/instances/${shop}/backups`, {})).status),
    async () => expect((await api.put(`/servers/${home}`, { name: unique("renamed") })).status).toBe(200),
    async () => void (await me.token()),
  ];
  for (let step = 0; step < STEPS; step++) await random.oneOf(kinds)();
}

interface List {
  path: string;
  order: "asc" | "desc";
  session: boolean;
}

/** The IDs of a list, page by page. Those whose requests overlapped may be either way round, but are so in every walk. */
async function walk(api: Client, { path, order }: List, perPage: number, { concurrent = true } = {}): Promise<string[]> {
  const ids: string[] = [];
  const times: string[] = [];
  for (let cursor: string | null | undefined = ""; cursor !== null && cursor !== undefined;) {
    const page: ApiResponse = await api.get(
      `${path}?order=${order}&per_page=${perPage}${cursor === "" ? "" : `&cursor=${cursor}`}`,
    );
    for (const { id, created_at } of page.as(Listed)) {
      ids.push(id);
      times.push(created_at);
    }
    cursor = page.meta?.next_cursor;
  }
  const sorted = order === "asc" ? times.toSorted() : times.toSorted().toReversed();
  if (!concurrent) expect(times, `the order of ${path}`).toEqual(sorted);
  expect(new Set(ids).size, `a record of ${path} appears twice`).toBe(ids.length);
  return ids;
}

/** Lists of an account, or of an instance: its ID stands for `:id`. */
const isOfInstance = ({ path }: { path: string }): boolean => !path.includes(":id") || path.startsWith("/instances/");

prove("counters-and-order", async () => {
  const cloud = await processCloud();
  giveUpEarly(cloud);

  return {
    trial: async ({ random }) => {
      const me = await account({ seeded: true });
      for (const kind of ["server", "instance"] as const) await setQuota(me.id, kind, 1_000);
      for (let i = 0; i < 6; i++) await me.sshKey();
      const shop = await me.instance();
      for (let i = 0; i < 3; i++) await me.backup(shop.id);
      const lists = listRoutes.filter(isOfInstance).map(({ path, access }): List => ({
        path: path.replace(":id", shop.id),
        order: random.oneOf(["asc", "desc"]),
        session: access === "session",
      }));
      const session = await me.session();
      const reader = async (list: List) => (list.session ? session : (await me.token()).api);
      const list = random.oneOf(lists);
      const before = await walk(await reader(list), list, 100, { concurrent: false });
      const history = { me, home: shop.server_id, shop: shop.id, random };
      const clients = await Promise.all(Array.from({ length: WRITERS }, async () => (await me.token()).api));
      const during = await reader(list);
      const [counts, , walked] = await Promise.all([
        Promise.all(clients.map(increments)),
        Promise.all(Array.from({ length: WRITERS }, () => changes(history))),
        walk(during, list, 1 + random.below(4)),
      ]);
      await cloud.states.settled();

      const after = await walk(await reader(list), list, 100);
      const throughout = before.filter((id) => after.includes(id));
      expect(
        walked.filter((id) => throughout.includes(id)),
        `what a walk of ${list.path} missed`,
      ).toEqual(throughout);

      const check = (await me.token()).api;
      const days = (await check.get("/settings")).as(settings.get().data).backup_retention_days;
      expect(days, "a lost or doubled increment").toBe(14 + counts.reduce((sum, count) => sum + count, 0));

      const snapshot = await snapshotOf(cloud, me.id);
      for (const hold of [expectFree, expectMarkers, expectCounts, expectEntries]) hold(snapshot);
      for (const each of lists) {
        const api = await reader(each);
        const ids = await walk(api, each, 100);
        expect(await walk(api, each, 7), `the order of ${each.path}`).toEqual(ids);
        expect((await api.get(`${each.path}?per_page=1`)).meta?.total, `the total of ${each.path}`).toBe(ids.length);
      }
    },
  };
});
