// `npm run bench -- --webhooks`: deliveries of `npm start` to a hundred receivers, also while one of them does not respond, and
// of a storm of 2,000 events. Takes three to four minutes, and writes docs/scale.md.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { WithSecret } from "../../shared/api/webhooks.ts";
import { ALL_PERMISSIONS } from "../../shared/api/permissions.ts";
import { startChange } from "../../shared/data/change.ts";
import { createAccount } from "../../shared/operations/accounts/operator.ts";
import { concurrently } from "../../shared/platform/concurrently.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import { type By, logEvent } from "../../shared/records/events.ts";
import { reserveToken } from "../../shared/records/tokens.ts";
import { median, percentile, tableOf } from "./figures.ts";
import { startService } from "./service.ts";

const ACCOUNTS = 5;
const WEBHOOKS = 20; // an account's quota
const SECONDS = 30;
const STORM = 2_000;
const STORM_ACCOUNTS = 20;
const AT_ONCE = 4;
/**
 * What is not there by then is lost: the second try of a delivery comes after seconds, and lanes are free again after a minute.
 */
const WAIT_SECONDS = 120;

interface Owner {
  accountId: string;
  by: By;
  token: string;
}

async function createOwner(name: string): Promise<Owner> {
  const { account, user } = await createAccount(name, { email: `${name}@example.com`, name, password: "not-a-secret-1" });
  const by: By = {
    requestId: "bench",
    caller: { account_id: account.id, type: "user", id: user.id, name: user.name, permissions: [], ip_address: null },
  };
  const change = startChange({ id: account.id });
  const { value } = reserveToken(change, by, "test", { name, permissions: [...ALL_PERMISSIONS], expires_at: null });
  await change.commit();
  return { accountId: account.id, by, token: value };
}

/** Writes an event as a request that changes settings does. Returns its ID. */
async function writeEvent({ accountId, by }: Owner): Promise<string> {
  const change = startChange(await getAccount(accountId));
  const { id } = logEvent(change, by, "settings.update", { type: "account", id: accountId, name: "Bench" });
  await change.commit();
  return id;
}

interface Receiver {
  server: Server;
  url: string;
  /** The time at which each event arrived first. */
  arrivals: Map<string, number>;
  responds: boolean;
}

async function startReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    const id = String(request.headers["webhook-id"]);
    if (receiver.responds) request.resume().once("end", () => response.end());
    if (!receiver.arrivals.has(id)) receiver.arrivals.set(id, performance.now());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = z.object({ port: z.number() }).parse(server.address());
  const receiver: Receiver = { server, url: `http://127.0.0.1:${port}/`, arrivals: new Map(), responds: true };
  return receiver;
}

async function subscribe(api: string, { token }: Owner, { url }: Receiver): Promise<void> {
  const response = await fetch(`${api}/webhooks`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ name: url, url, events: ["settings.update"] }),
  });
  z.object({ data: WithSecret }).parse(await response.json());
}

async function until(isDone: () => boolean): Promise<void> {
  for (const last = performance.now() + WAIT_SECONDS * 1000; !isDone() && performance.now() < last;) await sleep(200);
}

/** An event a second, of one account after the other: the milliseconds from each commit to each receiver that responds. */
async function measureTries(owners: readonly Owner[], receiversOf: ReadonlyMap<Owner, readonly Receiver[]>): Promise<number[]> {
  const events: { id: string; owner: Owner; at: number }[] = [];
  for (let second = 0; second < SECONDS; second++) {
    const owner = owners[second % owners.length];
    if (owner !== undefined) events.push({ id: await writeEvent(owner), owner, at: performance.now() });
    await sleep(1000);
  }
  const expected = events.flatMap(({ id, owner, at }) =>
    (receiversOf.get(owner) ?? []).filter(({ responds }) => responds).map(({ arrivals }) => ({ id, at, arrivals })),
  );
  await until(() => expected.every(({ id, arrivals }) => arrivals.has(id)));
  return expected.map(({ id, at, arrivals }) => (arrivals.get(id) ?? Infinity) - at);
}

async function storm(api: string): Promise<{ lost: number; invented: number; seconds: number }> {
  const receivers = await Promise.all(Array.from({ length: STORM_ACCOUNTS }, startReceiver));
  const began = performance.now();
  const results = await Promise.all(
    receivers.map(async (receiver, place) => {
      const owner = await createOwner(`storm-${place}`);
      await subscribe(api, owner, receiver);
      const ids: string[] = [];
      const each = Array.from({ length: STORM / STORM_ACCOUNTS }, () => owner);
      await concurrently(AT_ONCE / 2, each, async () => void ids.push(await writeEvent(owner)));
      await until(() => ids.every((id) => receiver.arrivals.has(id)));
      receiver.server.closeAllConnections();
      receiver.server.close();
      const written = new Set(ids);
      return {
        lost: ids.filter((id) => !receiver.arrivals.has(id)).length,
        invented: [...receiver.arrivals.keys()].filter((id) => !written.has(id)).length,
      };
    }),
  );
  const sum = (of: "lost" | "invented"): number => results.reduce((total, each) => total + each[of], 0);
  return { lost: sum("lost"), invented: sum("invented"), seconds: (performance.now() - began) / 1000 };
}

export async function deliveries(): Promise<string> {
  const service = await startService();
  try {
    const owners: Owner[] = [];
    const receiversOf = new Map<Owner, Receiver[]>();
    for (let n = 0; n < ACCOUNTS; n++) {
      const owner = await createOwner(`bench-${n}`);
      const receivers = await Promise.all(Array.from({ length: WEBHOOKS }, startReceiver));
      for (const receiver of receivers) await subscribe(service.url, owner, receiver);
      owners.push(owner);
      receiversOf.set(owner, receivers);
    }
    const all = await measureTries(owners, receiversOf);
    const [silent] = [...receiversOf.values()].flat();
    if (silent !== undefined) silent.responds = false;
    const others = await measureTries(owners, receiversOf);
    const { lost, invented, seconds } = await storm(service.url);
    const show = (times: readonly number[]): string[] =>
      [median(times), percentile(times, 0.95)].map((ms) => (ms / 1000).toFixed(2));
    const moved = 100 * (percentile(others, 0.95) / percentile(all, 0.95) - 1);
    return [
      tableOf(
        ["First try, seconds after the commit", "median", "p95"],
        [
          [`${ACCOUNTS * WEBHOOKS} receivers, ${WEBHOOKS} deliveries a second`, ...show(all)],
          ["the others, while one of them does not respond", ...show(others)],
        ],
      ),
      `The receiver that does not respond moves the p95 of the others by ${moved.toFixed(0)} %.`,
      `${STORM.toLocaleString("en-US")} events of ${STORM_ACCOUNTS} accounts: ${lost} lost, ${invented} invented, all delivered after ${Math.round(seconds)} s.`,
    ].join("\n\n");
  } finally {
    await service.stop();
  }
}
