// Another account's IDs, in every position where an endpoint takes one: the same response, byte for byte, the same calls of the
// database, and the same time as an unused ID.
import { expect } from "vitest";
import * as z from "zod";
import { Server } from "../../shared/api/servers.ts";
import { getServer } from "../../shared/records/servers.ts";
import { unusedId } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
import { giveUpEarly } from "../harness/held-work.ts";
import { seedAlert, seedInstance, seedFactor, seedInvitation } from "../harness/seed.ts";
import { fieldsOf, idKindOf, listRoutes, pathOf } from "../harness/requests.ts";
import { type IdKind, ID_PREFIXES } from "../../shared/domain/id-kinds.ts";
import { bare, expectSameTime, observed } from "./observed.ts";
import { type Attack, isFullSize } from "./prove.ts";
import { type Kind, kinds, type Made, newRecords, requestOf, send, type World } from "./world.ts";
import type { TestCloud } from "../harness/facts.ts";

const isIdKind = (kind: string): kind is IdKind => Object.hasOwn(ID_PREFIXES, kind);
const KINDS = Object.keys(ID_PREFIXES).filter((kind) => isIdKind(kind));

/** The position of an ID in a request, and how the request is made with another ID there. */
interface Position {
  label: string;
  kind: Kind | undefined;
  idKind: IdKind;
  make: (world: World, id: string, request: Made | undefined) => Made;
}

/** The name of a field or parameter says of what kind its ID is; `resource_id` may be any. */
const idKindsOf = (name: string): readonly IdKind[] =>
  name === "resource_id" ? ["server", "instance", "backup"] : KINDS.filter((each) => name === `${each}_id`);

const positions: Position[] = kinds.flatMap((kind): Position[] => {
  const { route } = kind;
  const inPath = route.path.includes(":id")
    ? [
        {
          label: `${kind.label}, in the path`,
          kind,
          idKind: idKindOf(route),
          make: (_: World, id: string, request: Made | undefined) => ({
            method: route.method,
            body: request?.body,
            path: pathOf(route, id),
          }),
        },
      ]
    : [];
  const inBody = fieldsOf(route.body).fields.flatMap(([name]) =>
    idKindsOf(name).map((idKind) => ({
      label: `${kind.label}, as ${name}`,
      kind,
      idKind,
      make: (_: World, id: string, request: Made | undefined) => ({
        method: route.method,
        path: request?.path ?? "",
        body: { ...request?.body, [name]: id },
      }),
    })),
  );
  const inQuery = fieldsOf(route.query).fields.flatMap(([name]) =>
    idKindsOf(name).map((idKind) => ({
      label: `${kind.label}, as the filter ${name} for a ${idKind}`,
      kind,
      idKind,
      make: (_: World, id: string, request: Made | undefined) => ({
        method: route.method,
        body: undefined,
        path: `${request?.path ?? ""}?${name}=${id}`,
      }),
    })),
  );
  return [...inPath, ...inBody, ...inQuery];
});
const byLabel = new Map(positions.map((position) => [position.label, position]));
const cursors = listRoutes.map((route) => ({ label: `${route.title}, another account's cursor`, route }));

const Listed = z.array(z.looseObject({ id: z.string() }));

const newServer = async ({ api, serverBody }: World["me"]): Promise<Server> =>
  (await api.post("/servers", await serverBody())).as(Server);

/** Tries for each of the two medians. */
const TIMED = isFullSize ? 500 : 0;

export async function attackTenants(cloud: TestCloud): Promise<Attack> {
  giveUpEarly(cloud);
  const attacker = await newRecords();
  const victim = await newRecords();
  // Two of each kind, so that every list has a cursor.
  const [server] = [await newServer(victim.me), await newServer(victim.me)];
  await seedInstance(victim.me.id);
  await victim.me.sshKey();
  await victim.me.token();
  await seedAlert(await getServer(victim.me.id, String(victim.ids.server)));
  for (let i = 0; i < 2; i++) await seedInvitation(victim.me);
  const factors = [await seedFactor(victim.me.user.id), await seedFactor(victim.me.user.id)];
  const [session] = (await (await victim.me.session()).get("/auth/sessions")).as(Listed);
  await cloud.states.settled();
  const foreign: World["ids"] = {
    ...victim.ids,
    operation: server.operation_id ?? "",
    second_factor: factors[0] ?? "",
    session: session?.id ?? "",
  };
  const attackerWorld: World = { me: attacker.me, ids: { ...attacker.ids, operation: unusedId("operation") } };

  const clientFor = async (access: unknown): Promise<Client> =>
    access === "session" ? attacker.me.session(await attacker.me.anotherUser()) : (await attacker.me.token()).api;

  /** Every eighth try has another credential: each has its limits. */
  async function expectSameTimes(position: Position, id: string): Promise<void> {
    let api = await clientFor(position.kind?.route.access);
    let changedAt = 0;
    const prepare = (idOf: () => string) => async (index: number) => {
      if (index % 8 === 0 && index !== changedAt) [changedAt, api] = [index, await clientFor(position.kind?.route.access)];
      const [by, request] = [
        api,
        position.make(attackerWorld, idOf(), position.kind && (await requestOf(position.kind, attackerWorld))),
      ];
      return () => send(by, request);
    };
    await expectSameTime(position.label, TIMED, [prepare(() => unusedId(position.idKind)), prepare(() => id)]);
  }

  /**
   * A resource of a kind that the world does not have, made by the POST of the path that its ID belongs to; empty if there is
   * none.
   */
  async function createdBy({ kind, idKind }: Position): Promise<string> {
    const collection = kind?.route.path.split("/:")[0];
    const maker = kinds.find(({ route }) => route.method === "POST" && route.path === collection && route.status === 201);
    if (maker === undefined || !kind?.route.path.includes(":id") || idKindOf(kind.route) !== idKind) return "";
    const api = maker.route.access === "session" ? await victim.me.session() : (await victim.me.token()).api;
    const response = await send(api, await requestOf(maker, victim));
    return response.status < 300 ? response.as(z.looseObject({ id: z.string() })).id : "";
  }

  async function expectNoLeak(position: Position, counts: (trials: number) => void): Promise<void> {
    const id = (foreign[position.idKind] ??= await createdBy(position));
    if (id === "") return counts(0);
    const api = await clientFor(position.kind?.route.access);
    const request = position.kind && (await requestOf(position.kind, attackerWorld));
    const before = await victim.me.trace();
    // The first request of a container may look at more than later ones.
    await send(api, position.make(attackerWorld, unusedId(position.idKind), request));
    const unused = await observed(cloud, () =>
      send(api, position.make(attackerWorld, unusedId(position.idKind), request), { "x-request-id": "same" }),
    );
    const their = await observed(cloud, () => send(api, position.make(attackerWorld, id, request), { "x-request-id": "same" }));
    expect(bare(their.response)).toEqual(bare(unused.response));
    expect(their.calls).toEqual(unused.calls);
    expect(await victim.me.trace(), "something of theirs has changed").toBe(before);
    for (const text of Object.values(foreign)) if (text !== id) expect(their.response.text).not.toContain(text);
    if (TIMED > 0) await expectSameTimes(position, id);
  }

  /** The IDs of a whole list: there may be hundreds of tokens by now. */
  async function idsOf(api: Client, path: string): Promise<string[]> {
    const ids: string[] = [];
    let query = "";
    do {
      const page = await api.get(`${path}?per_page=100${query}`);
      ids.push(...page.as(Listed).map(({ id }) => id));
      const next = page.meta?.next_cursor ?? null;
      query = next === null ? "" : `&cursor=${next}`;
    } while (query !== "");
    return ids;
  }

  async function expectNoForeignCursor(label: string): Promise<void> {
    const route = cursors.find((each) => each.label === label)?.route ?? expect.fail(`There is no point ${label}`);
    const [me, them] = [
      await clientFor(route.access),
      route.access === "session" ? await victim.me.session() : (await victim.me.token()).api,
    ];
    if (route.id === "auth.listSessions") await victim.me.session(); // for a second page
    const pathFor = ({ ids }: Pick<World, "ids">): string =>
      route.path.includes(":id") ? pathOf(route, ids[idKindOf(route)] ?? expect.fail(`${label}: there is no ID`)) : route.path;
    const { next_cursor } = (await them.get(`${pathFor(victim)}?per_page=1`)).meta ?? {};
    expect(next_cursor, "their cursor").toEqual(expect.any(String));
    const response = await me.get(`${pathFor(attackerWorld)}?cursor=${next_cursor}`);
    const listed = response.status === 200 ? response.as(Listed) : [];
    const ownIds = await idsOf(me, pathFor(attackerWorld));
    for (const { id } of listed) expect(ownIds, "a record of another account").toContain(id);
  }

  return {
    points: [...byLabel.keys(), ...cursors.map(({ label }) => label)],
    trial: async ({ point, counts }) => {
      const position = byLabel.get(point);
      await (position === undefined ? expectNoForeignCursor(point) : expectNoLeak(position, counts));
    },
  };
}
