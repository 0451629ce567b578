// One key, many requests: at once, while the start fails, with another body, by another credential, and with the function killed
// between any two of its effects.
import { expect } from "vitest";
import * as z from "zod";
import type { Arriving } from "../harness/aws.ts";
import type { ApiResponse, Client } from "../harness/client.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { giveUpEarly } from "../harness/held-work.ts";
import { sweepAll } from "../workflows/repair.ts";
import { expectCounts, expectEntries, expectFree, expectMarkers, snapshotOf } from "../workflows/snapshot.ts";
import { prove } from "./prove.ts";
import type { Random } from "./random.ts";
import { type Kind, kinds, type Made, recordsOf, requestOf, send, type World, worldFor } from "./world.ts";

const AT_ONCE = 20;
const IN_PROGRESS = ["IDEMPOTENCY_IN_PROGRESS", "SERVICE_UNAVAILABLE"];

/** The idempotent requests without the control of a bulk action, which must be in progress: after each attack nothing may be. */
const posts = kinds.filter(({ route }) => route.idempotent && route.id !== "operations.act");
const WAYS = ["twenty at once", "while starts fail", "another body", "another credential", "killed inside"] as const;
const rounds = posts.flatMap((kind) => WAYS.map((way) => ({ label: `${kind.label}: ${way}`, kind, way })));
const byLabel = new Map(rounds.map((round) => [round.label, round]));

/** The functions of endpoints, without the authorizer. */
const isEndpoint = ({ principal }: Arriving): boolean => /-api/i.test(principal) && !/authorize/i.test(principal);

/** What one plain request of a kind adds to the account, and how many calls of AWS it makes. */
interface Plain {
  effect: Record<string, number>;
  calls: number;
}

prove("idempotency", async () => {
  const cloud = await processCloud();
  giveUpEarly(cloud);
  const plain = new Map<string, Plain>();
  const settled = () => cloud.states.settled();

  const clientFor = async ({ route }: Kind, { me }: World): Promise<Client> =>
    route.access === "session" ? me.session(await me.anotherUser()) : (await me.token()).api;

  async function added({ me }: World, work: () => Promise<void>): Promise<Record<string, number>> {
    const before = await recordsOf(me.id);
    await work();
    const after = await recordsOf(me.id);
    return Object.fromEntries(Object.entries(after).map(([kind, count]) => [kind, count - (before[kind] ?? 0)]));
  }

  async function plainOf(kind: Kind): Promise<Plain> {
    const cached = plain.get(kind.label);
    if (cached !== undefined) return cached;
    const world = await worldFor(kind);
    const [api, request] = [await clientFor(kind, world), await requestOf(kind, world)];
    let calls = 0;
    const effect = await added(world, async () => {
      const stop = cloud.aws.inject((call) => void (calls += isEndpoint(call) ? 1 : 0));
      const response = await send(api, request, { "idempotency-key": "plain" });
      stop();
      expect(response.status, `a plain request: ${response.text}`).toBeLessThan(300);
      await settled();
    });
    expect(calls, `calls of ${kind.label}`).toBeGreaterThan(0);
    plain.set(kind.label, { effect, calls });
    return { effect, calls };
  }

  return {
    points: rounds.map(({ label }) => label),
    trial: async ({ point, random, index }) => {
      const { kind, way } = byLabel.get(point) ?? expect.fail(`There is no point ${point}`);
      const { effect, calls } = await plainOf(kind);
      const world = await worldFor(kind);
      const request = await requestOf(kind, world);
      const api = await clientFor(kind, world);
      const other = way === "another credential" ? await clientFor(kind, world) : undefined;
      const key = `round ${index}`;
      const responses: ApiResponse[] = [];
      const observedEffect = await added(world, async () => {
        responses.push(...(await attack({ cloud, api, request, key, way, random, calls })));
        await settled();
        if (way === "killed inside") await sweepAll(cloud, world.me.id);
        // Whatever happened, the client asks until it gets a final response. (Twenty are all that a credential may create in a
        // minute.)
        for (let tries = way === "twenty at once" ? 5 : 0; tries < 5; tries++) {
          const last = await send(api, request, { "idempotency-key": key });
          responses.push(last);
          await settled();
          if (!IN_PROGRESS.includes(last.error?.code ?? "") && last.status < 500) break;
          await sweepAll(cloud, world.me.id);
        }
      });
      const successes = responses.filter(({ status }) => status < 300);
      for (const { error, status, text } of responses)
        if (status >= 300)
          expect([...IN_PROGRESS, ...(way === "killed inside" ? ["INTERNAL_ERROR"] : [])], text).toContain(error?.code);
      expect(successes.length, `successes of ${point}`).toBeGreaterThan(0);
      const bytes = successes.map(({ status, headers, text }) =>
        kind.route.storesResponse ? `${status} ${headers["location"]} ${text}` : `${status}`,
      );
      expect([...new Set(bytes)], "different successes").toHaveLength(1);
      expect(observedEffect, "effects").toEqual(effect);
      await expectThere(api, successes[0]);
      const snapshot = await snapshotOf(cloud, world.me.id);
      for (const hold of [expectFree, expectMarkers, expectCounts, expectEntries]) hold(snapshot);
      if (way === "another body") {
        // New unique values make another body; a request without any is compared with one to another path.
        const again = await requestOf(kind, world);
        const sshKey = posts.find(({ route }) => route.id === "sshKeys.create") ?? kind;
        const changed = JSON.stringify(again) === JSON.stringify(request) ? await requestOf(sshKey, world) : again;
        expect((await send(api, changed, { "idempotency-key": key })).error?.code).toBe("IDEMPOTENCY_KEY_REUSED");
      }
      if (other !== undefined) {
        const response = await send(other, request, { "idempotency-key": key });
        expect(response.headers).not.toHaveProperty("idempotent-replayed");
        await settled();
      }
    },
  };
});

interface Round {
  cloud: TestCloud;
  api: Client;
  request: Made;
  key: string;
  way: (typeof WAYS)[number];
  random: Random;
  /** The calls of one request. */
  calls: number;
}

async function attack({ cloud, api, request, key, way, random, calls }: Round): Promise<ApiResponse[]> {
  const ask = () => send(api, request, { "idempotency-key": key });
  switch (way) {
    case "twenty at once":
      return Promise.all(Array.from({ length: AT_ONCE }, ask));
    case "while starts fail": {
      cloud.aws.outage("states", random.chance(0.5) ? true : "refuse");
      const back = random.below(6);
      const tries = Array.from({ length: 6 }, async (_, i) => {
        await new Promise((resolve) => setTimeout(resolve, i * 15));
        if (i === back) cloud.aws.outage("states", false);
        return ask();
      });
      return Promise.all(tries).finally(() => cloud.aws.outage("states", false));
    }
    case "killed inside": {
      const at = 1 + random.below(calls);
      const takesEffect = random.chance(0.5);
      let callCount = 0;
      const stop = cloud.aws.inject((call) => {
        if (!isEndpoint(call) || ++callCount !== at) return undefined;
        stop();
        void cloud.lambda.kill(call.principal);
        return { kind: takesEffect ? "lost" : "silent" };
      });
      return [await ask().finally(stop)];
    }
    default:
      return [await ask()];
  }
}

/** A success names a resource, which is there. */
async function expectThere(api: Client, response: ApiResponse | undefined): Promise<void> {
  const location = response?.headers["location"];
  if (location === undefined) return;
  const resource = await api.get(
    z
      .string()
      .parse(location)
      .replace(/^.*\/api\/v1/, ""),
  );
  expect(resource.status, `GET ${location}`).toBe(200);
}
