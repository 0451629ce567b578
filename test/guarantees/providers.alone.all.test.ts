// Server creations at rented providers with random faults, slow and lost responses, tasks killed between any two of their effects
// and tasks run twice concurrently: they buy no machine too many and leave none behind. (Concurrent requests may come in another
// order when a seed is repeated.)
import { expect, vi } from "vitest";
import { handler as sweep } from "../../functions/schedules/sweep.ts";
import type { ServerRecord } from "../../shared/records/schemas/server.ts";
import { getServer } from "../../shared/records/servers.ts";
import { type FakeRequest, type FakeResponse, type Fate, type Fault, isThere, NONSENSE } from "../providers/fake.ts";
import { pass } from "../providers/executions.ts";
import { type Outcome, type ProviderHarness, providerHarness } from "../providers/harness.ts";
import { isOrder, PROVIDERS, RENTED, type Rented } from "../providers/table.ts";
import { prove } from "./prove.ts";
import { type Random, randomOf } from "./random.ts";

vi.mock("../../shared/hosts/ssh.ts", () => import("../providers/fake-host.ts"));

/** Creations of one trial, in an account of their own; after them, nothing may be left. */
const CREATIONS = 10;

/** The random numbers of the present trial. */
let chosen: Random = randomOf(0);
const random = (): number => chosen.next();
const chance = (probability: number): boolean => chosen.chance(probability);
const between = (least: number, most: number): number => least + random() * (most - least);
const oneOf = <T>(choices: readonly T[]): T => chosen.oneOf(choices);

/** The providers of a trial's creations: they take turns, and another one begins each trial. */
function turns(trial: number): Rented[] {
  const first = trial % RENTED.length;
  const rounds = Array.from({ length: CREATIONS + 1 }, () => RENTED);
  return rounds.flat().slice(first, first + CREATIONS);
}

/** One request in eight fails, one order in two. */
function faultOf(provider: Rented, request: FakeRequest): Fault | undefined {
  const { errorResponse, outOfCapacity, quotaExceeded, busy } = PROVIDERS[provider];
  const rejected = (response: FakeResponse): Fault => ({ kind: "rejected", response });
  if (isOrder(request) && chance(0.08)) return rejected(oneOf([...outOfCapacity, ...quotaExceeded]));
  if (!isOrder(request) && chance(0.2)) return { kind: "slow", seconds: between(1, 29) };
  if (!chance(isOrder(request) ? 0.5 : 0.12)) return undefined;
  return oneOf<Fault>([
    { kind: "lost" },
    { kind: "lost", seconds: between(1, 30) },
    { kind: "broken" },
    { kind: "broken", response: oneOf(Object.values(NONSENSE)) },
    { kind: "dropped", seconds: between(0, 30) },
    { kind: "rejected", response: oneOf(Object.values(NONSENSE)) },
    rejected(errorResponse(500, "server_error")),
    rejected(errorResponse(503, "unavailable")),
    ...busy.map(rejected),
    { kind: "limited", seconds: Math.ceil(between(1, 60)), header: oneOf(["retry-after", "ratelimit-reset"]) },
  ]);
}

const fateOf = (provider: Rented): Fate => ({
  starts: chance(0.004) ? Infinity : between(5, 30),
  // Some lists lag longer than our wait before the next try.
  listed: !PROVIDERS[provider].listsAreLate ? 0 : chance(0.05) ? between(90, 600) : chance(0.3) ? between(0, 60) : 0,
  vanishes: chance(0.04) ? between(0, 40) : Infinity,
  lingers: between(0, 15),
});

/** One try of a task in six runs twice concurrently, and one of the two is slow in some requests. */
const twin = (): (() => number) | undefined => (chance(1 / 6) ? () => (chance(0.5) ? 0 : Math.ceil(between(0, 3))) : undefined);

/** One try of a task in ten is killed at one of its first moments. */
const fatality = (): number => (chance(0.1) ? Math.ceil(between(0, 14)) : Infinity);

let here: ProviderHarness;

const there = (): string[] =>
  RENTED.flatMap((provider) => here[provider].machines.filter(isThere).map(({ id }) => `${provider} ${id}`));
const labelOf = ({ server }: Outcome): string => `${server.provider} ${server.machine_id}`;

/** The provider responds again at last, and entries that lists were late to show are old enough for the sweep. */
async function settle(): Promise<void> {
  for (const provider of RENTED) here[provider].fault = () => undefined;
  for (let round = 0; round < 2; round++) {
    pass(45 * 60);
    await sweep();
  }
  pass(60);
}

prove("providers", async () => {
  here = await providerHarness();
  return {
    trial: async ({ index: trial, random: ofTrial, counts, reached }) => {
      chosen = ofTrial;
      counts(CREATIONS);
      for (const provider of RENTED) {
        here[provider].fault = (request) => faultOf(provider, request);
        here[provider].fate = () => fateOf(provider);
      }
      const earlier = new Set(there());
      const outcomes: Outcome[] = [];
      const deleted: ServerRecord[] = [];
      const account = await here.account();
      for (const [index, provider] of turns(trial).entries()) {
        const outcome = await here.create(account, provider, { fatality, random, twin });
        outcomes.push(outcome);
        if (outcome.operation.state === "succeeded") reached(successAt(provider));
        if (index % 5 === 0 && (await here.remove(outcome.server, { fatality, random, twin })).state === "succeeded")
          deleted.push(outcome.server);
        pass(between(0, 30));
      }
      const created = outcomes.filter(({ operation, server }) => operation.state === "succeeded" && !deleted.includes(server));
      const expected = new Set(created.map(labelOf));
      await settle();
      const after = there().filter((machine) => !earlier.has(machine));
      for (const { operation } of outcomes) expect(["succeeded", "failed"]).toContain(operation.state);
      expect(
        after.filter((machine) => !expected.has(machine)),
        "left behind or too many",
      ).toEqual([]);
      expect(
        [...expected].filter((machine) => !after.includes(machine) && !hasVanished(machine)),
        "taken away",
      ).toEqual([]);
      for (const { server } of created)
        expect((await getServer(server.account_id, server.id)).machine_id).toBe(server.machine_id);
      // With unique names no machine is created twice, not even for a moment; without them only a list that lagged too long can
      // cause it.
      const unexcused = RENTED.filter((provider) => twice(provider).includes(false));
      expect(unexcused, "machines were created twice at these providers").toEqual([]);
    },
    finish: ({ points }) => {
      const unproven = RENTED.filter((provider) => !points.includes(successAt(provider)));
      expect(unproven, "no creation ever succeeded at these providers").toEqual([]);
    },
  };
});

const successAt = (provider: Rented): string => `a creation at ${provider} that succeeded`;

const hasVanished = (label: string): boolean =>
  RENTED.some((provider) =>
    here[provider].machines.some((machine) => `${provider} ${machine.id}` === label && machine.fate.vanishes < Infinity),
  );

/** Returns, for each name that was bought more than once, whether a late list was the reason. */
function twice(provider: Rented): boolean[] {
  const byName = Object.groupBy(here[provider].machines, ({ name }) => name);
  return Object.values(byName)
    .filter((same = []) => same.some((one) => same.some((other) => one.id < other.id && other.madeAt < endOf(one))))
    .map((same = []) => same.some(({ fate }) => fate.listed >= 90));
}
const endOf = ({ madeAt, fate, deletedAt }: { madeAt: number; fate: Fate; deletedAt: number }): number =>
  Math.min(madeAt + fate.vanishes * 1000, deletedAt + fate.lingers * 1000);
