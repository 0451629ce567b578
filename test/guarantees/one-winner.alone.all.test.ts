// Fifty requests at once of two kinds that exclude each other: one succeeds, and the errors of the others name its operation.
import { expect } from "vitest";
import * as z from "zod";
import { workflows } from "../../functions/workflows/index.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { LIFECYCLE, type ResourceType, statesFor, type Transition } from "../../shared/domain/lifecycle.ts";
import { account } from "../harness/account.ts";
import type { ApiResponse, Client } from "../harness/client.ts";
import { ownCloud } from "../harness/cloud.ts";
import { holdForGood } from "../harness/held-work.ts";
import { seedBackup, seedCode, seedInstance, seedServer } from "../harness/seed.ts";
import { uploaded } from "../harness/upload.ts";
import { prove } from "./prove.ts";
import type { Random } from "./random.ts";
import { type Kind, kinds, type Made, requestOf, send, type World } from "./world.ts";

const AT_ONCE = 50;
/** Half of what a credential may create in a minute: a request may have to be retried. */
const PER_TOKEN = 10;

interface Claim {
  kind: Kind;
  /** The resource that its operation locks, and the states that allow it. */
  locks: ResourceType;
  states: readonly string[];
}

/** What a request locks, from the tables of routes, workflows and states. A backup in progress locks its instance. */
function claimOf(kind: Kind): Claim[] {
  const { starts, path } = kind.route;
  const [value] = Object.values(kind.fixed);
  const name = starts.length === 1 ? starts[0] : starts.find((each) => each.split("-").includes(String(value)));
  if (name === undefined || !path.includes(":id")) return [];
  const { operation } = workflows[name];
  const row: Transition = LIFECYCLE[operation];
  if (row.resource === "account" || operation === "instance.check_code") return []; // a check holds nothing
  if (row.from.length > 0) return [{ kind, locks: row.resource, states: row.from }];
  return operation === "backup.create" ? [{ kind, locks: "instance", states: statesFor("backup") }] : [];
}
const claims = kinds.flatMap((kind) => claimOf(kind));

const pairs = claims.flatMap((one, index) =>
  claims.slice(index).flatMap((other) =>
    one.locks !== other.locks
      ? []
      : one.states
          .filter((state) => other.states.includes(state))
          .map((state) => ({
            label: `${one.kind.label} and ${other.kind.label} (${state})`,
            kinds: [one.kind, other.kind],
            locks: one.locks,
            state,
          })),
  ),
);
/** Creations with one and the same body: what must be unique is taken once. */
const creations = kinds
  .filter(
    ({ route }) =>
      route.method === "POST" &&
      route.status === 201 &&
      ["name", "domain"].some((field) => field in (route.body ? shapeOf(route.body) : {})),
  )
  .map((kind) => ({ label: `${kind.label}, with the same body`, kinds: [kind], locks: undefined, state: undefined }));
function shapeOf(schema: z.ZodType): Record<string, unknown> {
  return z
    .looseObject({ properties: z.record(z.string(), z.unknown()).default({}) })
    .parse(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" })).properties;
}
/**
 * What uses a resource, and what takes it away: either some of the former succeed, or one of the latter. (An upload is used by
 * its completion, which happens once.)
 */
const EXCLUSIONS = [
  ["backups.delete", "instances.clone"],
  ["backups.delete", "backups.drill"],
  ["backups.delete", "backups.restore"],
  ["servers.delete", "instances.create"],
  ["uploads.delete", "uploads.complete"],
] as const;
const kindOf = (id: string): Kind => kinds.find(({ route }) => route.id === id) ?? expect.fail(`There is no endpoint ${id}`);
const exclusions = EXCLUSIONS.map(([taking, using]) => {
  const [taker, user] = [kindOf(taking), kindOf(using)];
  return { label: `${taker.label} or ${user.label}`, kinds: [taker, user], locks: undefined, state: undefined };
});
const rounds = [...pairs, ...creations, ...exclusions];
const byLabel = new Map(rounds.map((round) => [round.label, round]));

/** A 503 decides nothing: of 50 at once, some may wait for the database longer than a request does. Clients retry it. */
async function sentUntilDecided(api: Client, request: Made): Promise<ApiResponse> {
  const response = await send(api, request);
  return response.status === 503 ? sentUntilDecided(api, request) : response;
}

const Begun = z.looseObject({ id: z.string(), operation_id: z.string().nullish() });
const operationOf = (response: ApiResponse): string => {
  const { id, operation_id } = response.as(Begun);
  return operation_id ?? id;
};

const ARCHIVE = new Uint8Array(100);

interface Exclusion {
  taker: Kind;
  user: Kind;
  clients: Client[];
  world: World;
  random: Random;
}

prove("one-winner", async () => {
  const cloud = await ownCloud();
  holdForGood(cloud);
  const me = await account();
  for (const kind of ["server", "instance"] as const) await setQuota(me.id, kind, 100_000);
  const { id: ssh_key } = await me.sshKey();

  /** New resources in this state; nothing works on them, so no machine is needed. */
  async function worldIn(locks: ResourceType | undefined, state: string | undefined): Promise<World> {
    const is = (type: ResourceType) => (locks === type && state !== undefined ? { state } : {});
    const server = await seedServer(me.id);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the state is one of this type's, from the lifecycle
    const instance = await seedInstance(me.id, { server_id: server.id, ...is("instance") } as Parameters<typeof seedInstance>[1]);
    await seedCode(instance);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    const backup = await seedBackup(instance, is("backup") as Parameters<typeof seedBackup>[1]);
    // A server with instances cannot be deleted.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    const target = locks === "server" ? await seedServer(me.id, is("server") as Parameters<typeof seedServer>[1]) : server;
    return { me, ids: { server: target.id, instance: instance.id, backup: backup.id, ssh_key } };
  }

  const clientsFor = async (kind: Kind | undefined): Promise<Client[]> =>
    Promise.all(
      Array.from({ length: Math.ceil(AT_ONCE / PER_TOKEN) }, async () =>
        kind?.route.access === "session" ? me.session(await me.anotherUser()) : (await me.token()).api,
      ),
    );

  const uniqueness = new Map<string, boolean>();
  async function isUnique(kind: Kind, world: World): Promise<boolean> {
    const cached = uniqueness.get(kind.label);
    if (cached !== undefined) return cached;
    const [[api = me.api], request] = [await clientsFor(kind), await requestOf(kind, world)];
    const statuses = [(await send(api, request)).status, (await send(api, request)).status];
    const isTaken = (statuses[0] ?? 500) < 300 && statuses[1] === 409;
    uniqueness.set(kind.label, isTaken);
    return isTaken;
  }

  /** Requests that use a resource, each with names of its own, and requests that take it away. */
  async function expectExclusive({ taker, user, clients, world, random }: Exclusion): Promise<void> {
    const server = await seedServer(me.id);
    const ofServer = taker.route.id === "servers.delete" ? { server: server.id } : {};
    const ofUpload = taker.route.id === "uploads.delete" ? { upload: (await uploaded((await me.token()).api, ARCHIVE)).id } : {};
    const contested = { me, ids: { ...world.ids, ...ofServer, ...ofUpload } };
    const requests = await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        const kind = random.chance(0.5) ? taker : user;
        return { kind, request: await requestOf(kind, contested) };
      }),
    );
    const responses = await Promise.all(
      requests.map(async ({ kind, request }, index) => ({
        kind,
        response: await sentUntilDecided(clients[index % clients.length] ?? me.api, request),
      })),
    );
    const won = responses.filter(({ response }) => response.status < 300);
    expect(won.length, "winners").toBeGreaterThan(0);
    if (won.some(({ kind }) => kind === taker) || user.route.id === "uploads.complete")
      expect(
        won.map(({ kind, response }) => `${kind.label} ${response.text}`),
        "winners",
      ).toHaveLength(1);
    for (const { response } of responses)
      if (response.status >= 300) expect([404, 409, 422], response.text).toContain(response.status);
  }

  return {
    points: rounds.map(({ label }) => label),
    trial: async ({ point, random, counts }) => {
      const round = byLabel.get(point);
      if (round === undefined) throw new Error(`There is no point ${point}`);
      const world = await worldIn(round.locks, round.state);
      const clients = await clientsFor(round.kinds[0]);
      const [taker, user] = round.kinds;
      if (round.locks === undefined && taker !== undefined && user !== undefined)
        return expectExclusive({ taker, user, clients, world, random });
      // Not every creation takes a name that must be unique.
      const [creation] = round.locks === undefined ? round.kinds : [];
      if (creation !== undefined && !(await isUnique(creation, world))) return counts(0);
      const same = await Promise.all(round.kinds.map((kind) => requestOf(kind, world)));
      const responses = await Promise.all(
        Array.from({ length: AT_ONCE }, async (_, index) => {
          const api = clients[index % clients.length] ?? me.api;
          return sentUntilDecided(api, random.oneOf(same));
        }),
      );
      const won = responses.filter(({ status }) => status < 300);
      const lost = responses.filter(({ status }) => status >= 300);
      expect(
        won.map(({ text }) => text),
        `winners of ${point}`,
      ).toHaveLength(1);
      const [winner] = won;
      if (winner === undefined) return;
      for (const { status, error } of lost) {
        expect(status, JSON.stringify(error)).toBe(409);
        if (round.locks === undefined) expect(error).toMatchObject({ code: "CONFLICT", details: { field: expect.any(String) } });
        else expect(error).toMatchObject({ code: "OPERATION_IN_PROGRESS", details: { operation_id: operationOf(winner) } });
      }
    },
  };
});
