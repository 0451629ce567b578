// Random sequences of requests against a simple model of the API, some of them racing. A counterexample is shrunk and printed as
// curl lines.
import fc from "fast-check";
import { expect } from "vitest";
import * as z from "zod";
import { workflows } from "../../functions/workflows/index.ts";
import { recordProbe } from "../../shared/records/machines.ts";
import { getServer } from "../../shared/records/servers.ts";
import { FAILED_PROBES_MAX } from "../../shared/domain/limits.ts";
import {
  afterSuccess,
  LIFECYCLE,
  type OperationType,
  type ResourceType,
  type State,
  type Transition,
  workflowOf,
} from "../../shared/domain/lifecycle.ts";
import type { Workflow } from "../../shared/domain/workflow.ts";
import { unique, uniqueDatabase, uniqueDomain } from "../harness/account.ts";
import type { ApiResponse, Client } from "../harness/client.ts";
import { processCloud } from "../harness/cloud.ts";
import { downloaded, sha256Of, uploaded } from "../harness/upload.ts";
import { type Intercept, InjectedError, type WorkflowHarness } from "../workflows/harness.ts";
import { guarantees } from "./guarantees.ts";
import { Begun, type Command, curl, expectShown, type Known, type Model, type Real, targetOf, variable } from "./model.ts";
import { editing } from "./model-edits.ts";
import { prove } from "./prove.ts";
import { leaseOf } from "./workflow-attack.ts";

const SEQUENCES = 5;
const COMMANDS = 10;

const transitionName = (type: OperationType, from: string | undefined, end: string): string =>
  `${type}${from === undefined ? "" : ` from ${from}`}: ${end}`;
const TRANSITIONS = Object.entries(LIFECYCLE).flatMap(([type, row]: [string, Transition]) =>
  (row.resource === "account" ? [] : row.from.length > 0 ? row.from : [undefined]).flatMap((from) =>
    ["succeeded", "failed"].map((end) => `${type}${from === undefined ? "" : ` from ${from}`}: ${end}`),
  ),
);

/** One kind of request: what it is about, what the model expects, and what it leads to. */
interface Verb {
  type: OperationType;
  /** The kind of the resource in its path. */
  on: ResourceType;
  method: "POST" | "PUT" | "DELETE";
  path: (id: string) => string;
  body: () => Record<string, unknown> | undefined;
  /** Whether it may start now, beside the state of the resource in its path. */
  may?: (target: Known, model: Model) => boolean;
  /** The resource that it moves: the target, one that it makes, or another one. */
  moves?: (target: Known) => Known | undefined;
  /** The status of its rejection, where that is not a conflict. */
  rejected?: (target: Known) => number | undefined;
}

const hasInstance = (parent: Known | undefined): parent is Known => parent !== undefined && parent.state !== "gone";
const hasErp = (instance: Known): boolean => instance.installed && instance.parent?.state === "ready";
const act = (action: string, type: OperationType): Verb => ({
  type,
  on: "instance",
  method: "POST",
  path: (id) => `/instances/${id}/actions`,
  body: () => ({ action }),
  may: hasErp,
});

const VERBS: readonly Verb[] = [
  act("start", "instance.start"),
  act("stop", "instance.stop"),
  act("restart", "instance.restart"),
  {
    type: "instance.update",
    on: "instance",
    method: "PUT",
    path: (id) => `/instances/${id}`,
    body: () => ({ domain: uniqueDomain("model") }),
    may: hasErp,
  },
  { type: "instance.delete", on: "instance", method: "DELETE", path: (id) => `/instances/${id}`, body: () => undefined },
  {
    type: "backup.create",
    on: "instance",
    method: "POST",
    path: (id) => `/instances/${id}/backups`,
    body: () => ({}),
    may: (instance) => hasErp(instance) && ["running", "stopped"].includes(instance.state),
  },
  {
    type: "backup.delete",
    on: "backup",
    method: "DELETE",
    path: (id) => `/backups/${id}`,
    body: () => undefined,
    may: ({ locked }) => locked !== true,
  },
  {
    type: "backup.drill",
    on: "backup",
    method: "POST",
    path: (id) => `/backups/${id}/drill`,
    body: () => ({}),
    may: ({ parent }) => hasInstance(parent) && parent.parent?.state === "ready",
    // Without an instance, nothing says on which server.
    rejected: ({ parent }) => (hasInstance(parent) ? undefined : 422),
  },
  {
    type: "backup.restore",
    on: "backup",
    method: "POST",
    path: (id) => `/backups/${id}/restore`,
    body: () => ({ backup_first: false }),
    may: ({ state, parent }) => state === "completed" && parent !== undefined && hasErp(parent),
    moves: ({ parent }) => parent,
  },
  {
    type: "server.delete",
    on: "server",
    method: "DELETE",
    path: (id) => `/servers/${id}`,
    body: () => undefined,
    may: (server, { all }) =>
      all.every(({ parent, state, kind }) => kind !== "instance" || parent !== server || state === "gone"),
  },
];

/** The state that an end of the work leads to. */
function stateAfter(type: OperationType, from: State | "gone", succeeded: boolean): State | "gone" {
  const row: Transition = LIFECYCLE[type];
  const to = succeeded ? row.to : row.failed;
  if (to === "gone") return "gone";
  if (to !== "before") return to;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a state of the resource, or the one that a restore gives it
  return succeeded ? (afterSuccess(type, from) as State) : from;
}

const makes = ({ type }: Pick<Verb, "type">): boolean => LIFECYCLE[type].from.length === 0;

function allowed(verb: Verb, target: Known, model: Model): boolean {
  if (target.state === "gone") return false;
  if (verb.may !== undefined && !verb.may(target, model)) return false;
  const moved = verb.moves === undefined ? target : verb.moves(target);
  const row: Transition = LIFECYCLE[verb.type];
  return makes(verb) || (moved !== undefined && row.from.some((state) => state === moved.state));
}

/** Fails at its first step, so that everything is undone. */
function failingIn({ steps }: Workflow): Intercept {
  const names = steps.map(({ name }) => name);
  return async ({ task }, next) => {
    if (names.includes(task)) throw new InjectedError("GiveUp");
    return next();
  };
}

/** Fewer requests than a token may make in a minute, if all of them create or delete. */
const PER_TOKEN = 18;

function apiOf({ me }: WorkflowHarness): () => Promise<Client> {
  let uses = 0;
  let token: ReturnType<typeof me.token> | undefined;
  return async () => {
    if (uses++ % PER_TOKEN === 0) token = me.token();
    return (await (token ?? me.token())).api;
  };
}

const sessions = new WeakMap<WorkflowHarness, Promise<Client>>();

/** One for all sequences in an account: signing in is slow on purpose. */
const sessionOf = (harness: WorkflowHarness) => (): Promise<Client> => {
  const session = sessions.get(harness) ?? harness.me.session();
  sessions.set(harness, session);
  return session;
};

const send = async ({ api }: Real, { method, path, body }: Verb, target: Known): Promise<ApiResponse> =>
  (await api()).send(method, path(target.id), body());

function expectRejected(response: ApiResponse, { rejected }: Verb, target: Known): void {
  expect(response.status, response.text).toBe(target.state === "gone" ? 404 : (rejected?.(target) ?? 409));
}

/** Notes the end of an operation that was allowed. */
function applied(verb: Verb, target: Known, model: Model, succeeded: boolean, response: ApiResponse, real: Real): Known {
  const moved = (verb.moves === undefined ? target : verb.moves(target)) ?? target;
  if (makes(verb)) {
    real.reached(transitionName(verb.type, undefined, succeeded ? "succeeded" : "failed"));
    const record: Known = {
      kind: "backup",
      id: response.as(Begun).id,
      state: succeeded ? "completed" : "failed",
      installed: true,
      parent: target,
      label: target.label,
    };
    model.all.push(record);
    return record;
  }
  real.reached(transitionName(verb.type, moved.state, succeeded ? "succeeded" : "failed"));
  moved.state = stateAfter(verb.type, moved.state, succeeded);
  return moved;
}

class Request implements Command {
  private readonly verb: Verb;
  private readonly index: number;
  private readonly fails: boolean;
  constructor(verb: Verb, index: number, fails: boolean) {
    this.verb = verb;
    this.index = index;
    this.fails = fails;
  }
  check = (model: Readonly<Model>): boolean => targetOf(model, this.verb.on, this.index) !== undefined;
  toString = (): string =>
    `${curl(this.verb.method, this.verb.path(variable(this.verb.on, this.index)), this.verb.body())}${this.fails ? "  # its first step fails" : ""}`;
  run = async (model: Model, real: Real): Promise<void> => {
    const { verb, fails } = this;
    const target = targetOf(model, verb.on, this.index);
    if (target === undefined) return;
    await request(verb, target, fails, model, real);
    if (fails) model.again = (failsAgain) => request(verb, target, failsAgain, model, real);
  };
}

async function request(verb: Verb, target: Known, fails: boolean, model: Model, real: Real): Promise<void> {
  if (!allowed(verb, target, model)) return expectRejected(await send(real, verb, target), verb, target);
  let response: ApiResponse | undefined;
  const workflow = workflows[workflowOf(verb.type)];
  const ask = async () => (response = await send(real, verb, target));
  const { operation } = await real.harness.run(workflow, ask, fails ? failingIn(workflow) : undefined);
  expect(operation.state).toBe(fails ? "failed" : "succeeded");
  if (response === undefined) throw new Error("There was no response");
  await expectShown(real, applied(verb, target, model, !fails, response, real));
}

/** What failed last is tried again, as people do: otherwise a deletion that fails twice is one of 20,000 sequences, or none. */
class Again implements Command {
  private readonly fails: boolean;
  constructor(fails: boolean) {
    this.fails = fails;
  }
  check = ({ again }: Readonly<Model>): boolean => again !== undefined;
  toString = (): string => `\n# the request that failed last again${this.fails ? "; its first step fails" : ""}`;
  run = async ({ again }: Model): Promise<void> => again?.(this.fails);
}

/**
 * Requests on one resource at once, sent in an order that the scheduler chooses: at most one is accepted, and it is one that may.
 */
class Race implements Command {
  private readonly verbs: readonly Verb[];
  private readonly index: number;
  constructor(verbs: readonly Verb[], index: number) {
    this.verbs = verbs;
    this.index = index;
  }
  check = (model: Readonly<Model>): boolean => targetOf(model, "instance", this.index) !== undefined;
  toString = (): string =>
    this.verbs.map((verb) => `${curl(verb.method, verb.path(variable("instance", this.index)), verb.body())} &`).join(" ");
  run = async (model: Model, real: Real): Promise<void> => {
    const target = targetOf(model, "instance", this.index);
    if (target === undefined) return;
    const may = this.verbs.filter((verb) => allowed(verb, target, model));
    const asking = this.verbs.map(async (verb, index) => {
      await real.scheduler.schedule(Promise.resolve(index), verb.type);
      return { verb, response: await send(real, verb, target) };
    });
    await real.scheduler.waitAll();
    const responses = await Promise.all(asking);
    await real.harness.settled();
    const won = responses.filter(({ response }) => response.status < 300);
    expect(won.length, responses.map(({ response }) => response.text).join("\n")).toBeLessThanOrEqual(Math.max(1, may.length));
    expect(won.length > 0).toBe(may.length > 0);
    // Two may both be accepted if the first has ended before the second is read; then the model takes them in that order.
    for (const { verb, response } of won) {
      if (!allowed(verb, target, model) && won.length === 1) expect.fail(`${verb.type} was accepted in ${target.state}`);
      await Promise.resolve(applied(verb, target, model, true, response, real));
    }
    if (won.length === 1) await expectShown(real, target);
    else target.state = await shownState(real, target);
  };
}

async function shownState({ api }: Real, { id }: Known): Promise<State | "gone"> {
  const response = await (await api()).get(`/instances/${id}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an instance's status is its state
  return response.status === 404 ? "gone" : (response.as(z.looseObject({ status: z.string() })).status as State);
}

/** Creations, which have no resource to be in a state. */
class Create implements Command {
  private readonly type: "server.create" | "instance.create" | "instance.clone";
  private readonly index: number;
  private readonly fails: boolean;
  constructor(type: Create["type"], index: number, fails: boolean) {
    this.type = type;
    this.index = index;
    this.fails = fails;
  }
  check = (): boolean => true;
  toString = (): string => {
    const requests = {
      "server.create": [
        "/servers",
        { name: unique("model"), provider: "sandbox", region: "eu-central", size: "small", ssh_key_id: "$SSH_KEY" },
      ],
      "instance.create": [
        "/instances",
        {
          name: "Shop",
          server_id: "$SERVER",
          erp_version: "19.0",
          edition: "community",
          database_name: uniqueDatabase(),
          admin_email: "admin@example.com",
          domain: uniqueDomain("model"),
        },
      ],
      "instance.clone": [
        "/instances/$INSTANCE_OF_BACKUP/clone",
        { name: "Copy", domain: uniqueDomain("copy"), backup_id: variable("backup", this.index) },
      ],
    } as const;
    const [path, body] = requests[this.type];
    return `${curl("POST", path, body)}${this.fails ? "  # its first step fails" : ""}`;
  };
  run = async (model: Model, real: Real): Promise<void> => {
    const { me } = real.harness;
    const api = await real.api();
    const server = model.all.find(({ kind, state }) => kind === "server" && state === "ready");
    const backup = targetOf(model, "backup", this.index);
    const home = backup?.parent?.parent;
    const possible =
      this.type === "server.create" ||
      (this.type === "instance.create"
        ? server !== undefined
        : backup?.state === "completed" && home?.state === "ready" && backup.parent?.state !== "gone");
    if (!possible) return;
    const asks = {
      "server.create": async () => api.post("/servers", await me.serverBody()),
      "instance.create": async () => api.post("/instances", await me.instanceBody({ server_id: server?.id ?? "" })),
      "instance.clone": () =>
        api.post(`/instances/${backup?.parent?.id}/clone`, { name: "Copy", domain: uniqueDomain("copy"), backup_id: backup?.id }),
    };
    let response: ApiResponse | undefined;
    const workflow = workflows[workflowOf(this.type)];
    const ask = async () => (response = await asks[this.type]());
    const { operation } = await real.harness.run(workflow, ask, this.fails ? failingIn(workflow) : undefined);
    expect(operation.state).toBe(this.fails ? "failed" : "succeeded");
    const isServer = this.type === "server.create";
    const record: Known = {
      kind: isServer ? "server" : "instance",
      id: response?.as(Begun).id ?? "",
      state: stateAfter(this.type, "gone", !this.fails),
      installed: !this.fails,
      parent: isServer ? undefined : this.type === "instance.clone" ? home : server,
      label: this.type === "instance.clone" ? backup?.parent?.label : undefined,
    };
    model.all.push(record);
    real.reached(transitionName(this.type, undefined, this.fails ? "failed" : "succeeded"));
    await expectShown(real, record);
  };
}

/** An archive that was made elsewhere: in truth, that of a backup. */
class Import implements Command {
  private readonly index: number;
  private readonly fails: boolean;
  constructor(index: number, fails: boolean) {
    this.index = index;
    this.fails = fails;
  }
  check = (model: Readonly<Model>): boolean => targetOf(model, "server", this.index)?.state === "ready";
  toString = (): string =>
    `${curl("POST", "/backups/uploads/$UPLOAD/complete", { sha256: "$SHA256", server_id: variable("server", this.index) })}${this.fails ? "  # its first step fails" : ""}`;
  run = async (model: Model, real: Real): Promise<void> => {
    const server = targetOf(model, "server", this.index);
    if (server?.state !== "ready") return;
    const api = await real.api();
    const { archive } = model;
    const { id } = await uploaded(api, archive);
    let response: ApiResponse | undefined;
    const workflow = workflows["import-backup"];
    const body = { sha256: sha256Of(archive), server_id: server.id };
    const ask = async () => (response = await api.post(`/backups/uploads/${id}/complete`, body));
    const { operation } = await real.harness.run(workflow, ask, this.fails ? failingIn(workflow) : undefined);
    expect(operation.state).toBe(this.fails ? "failed" : "succeeded");
    const state = stateAfter("backup.import", "gone", !this.fails);
    const record: Known = { kind: "backup", id: response?.as(Begun).id ?? "", state, installed: true, parent: undefined };
    model.all.push(record);
    real.reached(transitionName("backup.import", undefined, this.fails ? "failed" : "succeeded"));
    await expectShown(real, record);
  };
}

/** A server whose machine stops responding. */
class GoOffline implements Command {
  private readonly index: number;
  constructor(index: number) {
    this.index = index;
  }
  check = (model: Readonly<Model>): boolean => targetOf(model, "server", this.index)?.state === "ready";
  toString = (): string => `\n# the machine of ${variable("server", this.index)} stops responding`;
  run = async (model: Model, { harness }: Real): Promise<void> => {
    const target = targetOf(model, "server", this.index);
    if (target?.state !== "ready") return;
    for (let probe = 0; probe < FAILED_PROBES_MAX; probe++)
      await recordProbe(await getServer(harness.me.id, target.id), { responded: false });
    target.state = "unreachable";
  };
}

const indexes = fc.nat({ max: 3 });
const rarely = fc.integer({ min: 0, max: 3 }).map((n) => n === 0);
const onInstance = VERBS.filter(({ on }) => on === "instance");
const commands = fc.commands(
  [
    fc.tuple(fc.constantFrom(...VERBS), indexes, rarely).map(([verb, index, fails]) => new Request(verb, index, fails)),
    fc.tuple(fc.constantFrom(...onInstance), indexes, rarely).map(([verb, index, fails]) => new Request(verb, index, fails)),
    fc
      .tuple(fc.array(fc.constantFrom(...onInstance), { minLength: 2, maxLength: 3 }), indexes)
      .map(([verbs, index]) => new Race(verbs, index)),
    fc
      .tuple(fc.constantFrom<Create["type"]>("server.create", "instance.create", "instance.clone"), indexes, rarely)
      .map(([type, index, fails]) => new Create(type, index, fails)),
    fc.tuple(indexes, rarely).map(([index, fails]) => new Import(index, fails)),
    indexes.map((index) => new GoOffline(index)),
    fc.boolean().map((fails) => new Again(fails)),
    ...editing,
  ],
  { maxCommands: COMMANDS },
);

prove("model", async () => {
  const cloud = await processCloud();
  const lease = leaseOf(cloud);
  let archive: Uint8Array | undefined;

  async function start(harness: WorkflowHarness): Promise<Model> {
    const server: Known = {
      kind: "server",
      id: (await harness.me.server()).id,
      state: "ready",
      installed: true,
      parent: undefined,
    };
    const { id } = await harness.me.instance({ server_id: server.id });
    const instance: Known = { kind: "instance", id, state: "running", installed: true, parent: server };
    const backup: Known = {
      kind: "backup",
      id: (await harness.me.backup(id)).id,
      state: "completed",
      installed: true,
      parent: instance,
    };
    archive ??= await downloaded((await harness.me.token()).api, backup.id);
    return { all: [server, instance, backup], credentials: [], retentionDays: undefined, archive };
  }

  return {
    close: lease.close,
    trial: async ({ random, counts, reached }) => {
      counts(SEQUENCES);
      await fc.assert(
        fc.asyncProperty(commands, fc.scheduler(), async (sequence, scheduler) =>
          lease.use(async (harness) => {
            const model = await start(harness);
            const real = { harness, scheduler, reached, api: apiOf(harness), session: sessionOf(harness) };
            await fc.asyncModelRun(() => ({ model, real }), sequence);
          }),
        ),
        { numRuns: SEQUENCES, seed: random.below(2 ** 31), endOnFailure: false, includeErrorInReport: true },
      );
    },
    finish: ({ points, trials }) => {
      if (trials >= guarantees.model.full)
        expect(
          TRANSITIONS.filter((each) => !points.includes(each)),
          "transitions that were not taken",
        ).toEqual([]);
    },
  };
});
