// Commands for what needs no work: labels, locks, policies, SSH keys, tokens, settings; and a look at all lists.
import fc, { type Arbitrary } from "fast-check";
import { expect } from "vitest";
import * as z from "zod";
import { Overview } from "../../shared/api/overview.ts";
import { RESOURCE_TYPES, type ResourceType } from "../../shared/domain/lifecycle.ts";
import { newPublicKey, unique } from "../harness/account.ts";
import { type ApiResponse, type Client, clientWith } from "../harness/client.ts";
import { published } from "../workflows/harness.ts";
import { type Command, curl, type Credential, type Known, type Model, type Real, targetOf, variable } from "./model.ts";

/** A change that is done at once, to a resource of this kind. */
interface Edit {
  on: ResourceType;
  method: "PUT" | "DELETE";
  path: (id: string) => string;
  body?: Record<string, unknown>;
  /** Whether there is something to change, where the resource itself is there. */
  may?: (target: Known) => boolean;
  apply: (target: Known) => void;
}

const label = (on: ResourceType, value: string): Edit => ({
  on,
  method: "PUT",
  path: (id) => `/${on}s/${id}`,
  body: { labels: { model: value } },
  apply: (target) => void (target.label = value),
});

const lock = (locked: boolean): Edit => ({
  on: "backup",
  method: "PUT",
  path: (id) => `/backups/${id}`,
  body: { locked },
  apply: (target) => void (target.locked = locked),
});

const policyPath = (id: string): string => `/instances/${id}/backup-policy`;

const setPolicy = (schedule: string): Edit => ({
  on: "instance",
  method: "PUT",
  path: policyPath,
  body: { schedule, keep: { last: 3 } },
  apply: (target) => void (target.schedule = schedule),
});

const removePolicy: Edit = {
  on: "instance",
  method: "DELETE",
  path: policyPath,
  may: ({ schedule }) => schedule !== undefined,
  apply: (target) => void delete target.schedule,
};

const edits: Arbitrary<Edit> = fc.oneof(
  fc.tuple(fc.constantFrom(...RESOURCE_TYPES), fc.constantFrom("a", "b")).map(([on, value]) => label(on, value)),
  fc.boolean().map(lock),
  fc.constantFrom("0 2 * * *", "30 */6 * * *").map(setPolicy),
  fc.constant(removePolicy),
);

const stateOf = ({ label, locked, schedule }: Known): string => JSON.stringify([label, locked ?? false, schedule]);

const isThere = ({ state }: Known, { may }: Edit, target: Known): boolean => state !== "gone" && (may?.(target) ?? true);

async function expectAsEdited({ api }: Real, target: Known): Promise<void> {
  const client = await api();
  const resource = (await client.get(`/${target.kind}s/${target.id}`)).as(
    z.looseObject({ labels: z.record(z.string(), z.string()), locked: z.boolean().optional() }),
  );
  expect(resource.labels["model"]).toBe(target.label);
  if (target.kind === "backup") expect(resource.locked).toBe(target.locked ?? false);
  if (target.kind !== "instance") return;
  const policy = await client.get(policyPath(target.id));
  if (target.schedule === undefined) return expect(policy.status).toBe(404);
  expect(policy.as(z.looseObject({ schedule: z.string() })).schedule).toBe(target.schedule);
}

/** Who knows only the version from before a change that changed something does not overwrite it. */
class EditOf implements Command {
  private readonly edit: Edit;
  private readonly index: number;
  private readonly late: boolean;
  constructor(edit: Edit, index: number, late: boolean) {
    this.edit = edit;
    this.index = index;
    this.late = late;
  }
  check = (model: Readonly<Model>): boolean => targetOf(model, this.edit.on, this.index) !== undefined;
  toString = (): string =>
    `${curl(this.edit.method, this.edit.path(variable(this.edit.on, this.index)), this.edit.body)}${this.late ? "  # with an If-Match of before the last change" : ""}`;
  run = async (model: Model, real: Real): Promise<void> => {
    const { edit, late } = this;
    const target = targetOf(model, edit.on, this.index);
    if (target === undefined) return;
    const client = await real.api();
    const path = edit.path(target.id);
    const send = async (headers: Record<string, string> = {}): Promise<ApiResponse> =>
      client.send(edit.method, path, edit.body, { headers });
    if (!isThere(target, edit, target)) return expect((await send()).status).toBe(404);
    const [before, stateBefore] = [(await client.get(path)).headers["etag"], stateOf(target)];
    const response = await send();
    expect(response.status, response.text).toBe(200);
    edit.apply(target);
    const after = (await client.get(path)).headers["etag"];
    if (stateOf(target) !== stateBefore) expect(after, "the version of what was changed").not.toBe(before);
    if (late && after !== undefined && before !== undefined)
      expect((await send({ "if-match": before })).status).toBe(after === before ? 200 : 412);
    await expectAsEdited(real, target);
  };
}

const Made = z.looseObject({ id: z.string() });
const MadeToken = Made.extend({ token: z.string() });

/** Adds or takes away an SSH key or a token. A token is of use until it is deleted. */
class Hold implements Command {
  private readonly kind: Credential["kind"];
  private readonly index: number | undefined;
  /** Without an index, another one is added. */
  constructor(kind: Credential["kind"], index: number | undefined) {
    this.kind = kind;
    this.index = index;
  }
  check = (): boolean => true;
  toString = (): string =>
    this.index === undefined
      ? curl("POST", `/${this.kind}`, { name: "model" })
      : curl("DELETE", `/${this.kind}/$${this.kind.toUpperCase()}_${this.index}`);
  run = async ({ credentials }: Model, real: Real): Promise<void> => {
    const client = this.kind === "tokens" ? await real.session() : await real.api();
    if (this.index === undefined) return void credentials.push(await added(this.kind, client));
    const those = credentials.filter(({ kind }) => kind === this.kind);
    const one = those[this.index % Math.max(1, those.length)];
    if (one === undefined) return;
    expect((await client.delete(`/${this.kind}/${one.id}`)).status).toBe(one.isGone ? 404 : 200);
    one.isGone = true;
    expect((await client.get(`/${this.kind}/${one.id}`)).status).toBe(404);
    if (one.value !== undefined) expect((await clientWith(one.value).get("/auth/me")).status).toBe(401);
  };
}

async function added(kind: Credential["kind"], client: Client): Promise<Credential> {
  const name = unique("model");
  if (kind === "ssh-keys") {
    const { id } = (await client.post("/ssh-keys", { name, public_key: newPublicKey() })).as(Made);
    return { kind, id, isGone: false };
  }
  const { id, token } = (await client.post("/tokens", { name, permissions: ["servers:read"] })).as(MadeToken);
  expect((await clientWith(token).get("/auth/me")).status).toBe(200);
  return { kind, id, value: token, isGone: false };
}

class SetRetention implements Command {
  private readonly days: number;
  constructor(days: number) {
    this.days = days;
  }
  check = (): boolean => true;
  toString = (): string => curl("PUT", "/settings", { backup_retention_days: this.days });
  run = async (model: Model, { api }: Real): Promise<void> => {
    expect((await (await api()).put("/settings", { backup_retention_days: this.days })).status).toBe(200);
    model.retentionDays = this.days;
  };
}

const Listed = z.array(z.looseObject({ id: z.string(), status: z.string().optional() }));

async function listed(client: Client, path: string): Promise<z.infer<typeof Listed>> {
  const all: z.infer<typeof Listed> = [];
  for (let cursor: string | null | undefined = ""; cursor !== null && cursor !== undefined;) {
    const page = await client.get(
      `${path}${path.includes("?") ? "&" : "?"}per_page=100${cursor === "" ? "" : `&cursor=${cursor}`}`,
    );
    all.push(...page.as(Listed));
    cursor = page.meta?.next_cursor;
  }
  return all;
}

const statusesOf = (those: readonly { id: string; status?: string | undefined }[]) =>
  Object.fromEntries(those.map(({ id, status }) => [id, status]));

/**
 * Every list, every filter by label and every total says what the model knows. The account may have more, of sequences before.
 */
class Look implements Command {
  check = (): boolean => true;
  toString = (): string => "\n# all lists, the overview and the settings";
  run = async (model: Model, real: Real): Promise<void> => {
    const client = await real.api();
    const overview = (await client.get("/overview")).as(Overview);
    for (const kind of RESOURCE_TYPES) {
      const modeled = model.all.filter((each) => each.kind === kind);
      const present = modeled.filter(({ state }) => state !== "gone");
      const keepModeled = <T extends { id: string }>(those: readonly T[]): T[] =>
        those.filter(({ id }) => modeled.some((one) => one.id === id));
      const expected = (those: readonly Known[]) => statusesOf(those.map(({ id, state }) => ({ id, status: published(state) })));
      const all = await listed(client, `/${kind}s`);
      expect(statusesOf(keepModeled(all)), `the list of ${kind}s`).toEqual(expected(present));
      expect(overview[`${kind}s`]?.total, `the total of ${kind}s`).toBe(all.length);
      const labeled = await listed(client, `/${kind}s?label=model:a`);
      expect(statusesOf(keepModeled(labeled)), `the ${kind}s with a label`).toEqual(
        expected(present.filter((one) => one.label === "a")),
      );
    }
    for (const [kind, reader] of [
      ["ssh-keys", client],
      ["tokens", await real.session()],
    ] as const) {
      const ids = new Set((await listed(reader, `/${kind}`)).map(({ id }) => id));
      for (const { kind: of, id, isGone } of model.credentials)
        if (of === kind) expect(ids.has(id), `${id} in the list`).toBe(!isGone);
    }
    if (model.retentionDays !== undefined)
      expect((await client.get("/settings")).as(z.looseObject({ backup_retention_days: z.number() }))).toMatchObject({
        backup_retention_days: model.retentionDays,
      });
  };
}

const indexes = fc.nat({ max: 3 });

export const editing: Arbitrary<Command>[] = [
  fc.tuple(edits, indexes, fc.boolean()).map(([edit, index, late]) => new EditOf(edit, index, late)),
  fc
    .tuple(fc.constantFrom<Credential["kind"]>("ssh-keys", "tokens"), fc.option(indexes, { nil: undefined }))
    .map(([kind, index]) => new Hold(kind, index)),
  fc.integer({ min: 1, max: 30 }).map((days) => new SetRetention(days)),
  fc.constant(new Look()),
];
