// GET and PUT /instances/:id/code
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { Code } from "../../shared/api/code.ts";
import * as events from "../../shared/api/events.ts";
import { keys } from "../../shared/data/keys.ts";
import { find } from "../../shared/data/table.ts";
import { CODE } from "../../shared/domain/limits.ts";
import { secretsInLogs } from "../../shared/operations/code/log-secrets.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
import { seedInstance } from "../harness/seed.ts";
import { EMPTY } from "./empty.ts";

let me: TestAccount;
let api: Client;
beforeAll(async () => {
  me = await account({ seeded: true });
  for (const kind of ["server", "instance"] as const) await setQuota(me.id, kind, 1_000);
  ({ api } = await me.token());
});

const URL = "https://git.example/acme";
const path = async () => `/instances/${(await seedInstance(me.id)).id}/code`;
const show = async (at: string) => (await api.get(at)).as(Code);
const Failure = z.object({ errors: z.array(z.object({ field: z.string(), reason: z.string() })) });

/** Everything that is stored of an instance's code. */
const stored = async (at: string): Promise<string> =>
  JSON.stringify(await find({ key: keys.code(me.id, at.split("/")[2] ?? ""), schema: z.looseObject({}) }));

test("an instance without code has the empty one, and a PUT replaces the fields that it names", async () => {
  const at = await path();
  expect(await show(at)).toEqual(EMPTY);
  const first = (await api.put(at, { repositories: [{ url: URL, ref: "main" }], install_modules: ["acme"] })).as(Code);
  const unknown = { commit: null, newest_commit: null, checked_at: null, problem: null, host_key: null };
  const repository = { url: URL, ref: "main", path: null, credential: null, deploy_key: null, ...unknown };
  expect(first).toEqual({ ...EMPTY, repositories: [repository], install_modules: ["acme"], updated_at: first.updated_at });
  const second = (await api.put(at, { python_packages: ["num2words==0.5.13"], environment: [{ name: "A", value: "1" }] })).as(
    Code,
  );
  const added = { python_packages: ["num2words==0.5.13"], environment: [{ name: "A", value: "1" }] };
  expect(second).toEqual({ ...first, ...added, updated_at: second.updated_at });
  expect(await show(at)).toEqual(second);
  expect((await api.get(`/instances/${unusedId("instance")}/code`)).status).toBe(404);
});

test("a value has no characters that no configuration file takes", async () => {
  const at = await path();
  for (const value of ["a\nB=1", "a\u0085", "a\uffff"]) {
    const { error } = await api.put(at, { environment: [{ name: "A", value }] });
    const details = { field: "environment.0.value", reason: "must not contain control characters" };
    expect(error).toMatchObject({ details });
  }
});

test("a change is made only to the version that the client has read, also to the empty one", async () => {
  const at = await path();
  const tags = { headers: { "If-Match": (await api.get(at)).headers["etag"] ?? "" } };
  expect((await api.put(at, { install_modules: ["one"] }, tags)).status).toBe(200);
  expect((await api.put(at, { install_modules: ["two"] }, tags)).error).toMatchObject({ code: "PRECONDITION_FAILED" });
  expect((await show(at)).install_modules).toEqual(["one"]);
});

describe("tokens and secrets", () => {
  test("are never shown, and never stored as they are", async () => {
    const at = await path();
    const credential = { username: "deploy", token: "glpat-very-secret" };
    const environment = [
      { name: "CARRIER_KEY", secret: "carrier-very-secret" },
      { name: "CARRIER_URL", value: "https://carrier.example" },
    ];
    const response = await api.put(at, { repositories: [{ url: URL, ref: "main", credential }], environment });
    const events = await api.get(`/events?resource_id=${at.split("/")[2]}`);
    for (const text of [response.text, (await api.get(at)).text, await stored(at), events.text])
      expect(text).not.toMatch(/very-secret/);
    expect(response.as(Code)).toMatchObject({
      repositories: [{ credential: { username: "deploy" } }],
      environment: [{ name: "CARRIER_KEY" }, { name: "CARRIER_URL", value: "https://carrier.example" }],
    });
    // Nor in the logs of what runs with them.
    const inLogs = await secretsInLogs({ account_id: me.id, operation_id: null, instance_id: at.split("/")[2] });
    const basic = Buffer.from("deploy:glpat-very-secret").toString("base64");
    expect(inLogs).toEqual(["carrier-very-secret", "glpat-very-secret", basic]);
  });

  test("stay if they are left out, the token as long as the URL does", async () => {
    const at = await path();
    const credential = { username: "deploy", token: "one-token" };
    await api.put(at, {
      repositories: [{ url: URL, ref: "main", credential }],
      environment: [{ name: "A", secret: "a-secret" }],
    });
    const withoutSecrets = [{ url: URL, ref: "next", credential: { username: "deploy" } }];
    expect((await api.put(at, { repositories: withoutSecrets, environment: [{ name: "A" }] })).status).toBe(200);
    expect(await stored(at)).toMatch(/"token":"[^"]{20,}"/);
    expect(await stored(at)).toMatch(/"ref":"next"/);
    const moved = await api.put(at, { repositories: [{ ...withoutSecrets[0], url: `${URL}-2` }], environment: [{ name: "B" }] });
    expect(moved.error).toMatchObject({ code: "VALIDATION_ERROR" });
    expect(Failure.parse(moved.error?.details).errors).toEqual([
      { field: "repositories.0.credential.token", reason: "is required" },
      { field: "environment.0.value", reason: "is required" },
    ]);
  });

  test("are named by the event of a change that is theirs alone", async () => {
    const at = await path();
    const code = (token: string, secret: string) => ({
      repositories: [{ url: URL, ref: "main", credential: { username: "deploy", token } }],
      environment: [{ name: "A", secret }],
    });
    await api.put(at, code("token-number-one", "secret-number-one"));
    expect((await api.put(at, code("token-number-two", "secret-number-two"))).status).toBe(200);
    const [event] = (await api.get(`/events?type=code.update&resource_id=${at.split("/")[2]}`)).as(events.list().data);
    expect(event?.data?.changes).toEqual([{ field: "repositories" }, { field: "environment" }]);
  });

  test("a repository has one deploy key in the account, of which only the public half is shown", async () => {
    const [one, other] = [await path(), await path()];
    const repositories = [{ url: "ssh://git@git.example/acme", ref: "main", credential: "deploy_key" }];
    const first = (await api.put(one, { repositories })).as(Code).repositories[0]?.deploy_key;
    expect(first).toEqual({
      public_key: expect.stringMatching(/^ssh-ed25519 [A-Za-z0-9+/]{68} deploy$/),
      fingerprint: expect.stringMatching(/^SHA256:[A-Za-z0-9+/]{43}$/),
    });
    expect((await api.put(other, { repositories })).as(Code).repositories[0]?.deploy_key).toEqual(first);
    const elsewhere = [{ ...repositories[0], url: "ssh://git@git.example/other" }];
    expect((await api.put(other, { repositories: elsewhere })).as(Code).repositories[0]?.deploy_key).not.toEqual(first);
    const stranger = await account({ seeded: true });
    const response = await stranger.api.put(`/instances/${(await seedInstance(stranger.id)).id}/code`, { repositories });
    expect(response.as(Code).repositories[0]?.deploy_key).not.toEqual(first);
  });
});

test("an instance has as many repositories as the operator allows, and keeps those that it has", async () => {
  const ownAccount = await account({ seeded: true });
  const [one, other] = await Promise.all([seedInstance(ownAccount.id), seedInstance(ownAccount.id)]);
  const set = (instance: { id: string }, count: number) =>
    ownAccount.api.put(`/instances/${instance.id}/code`, {
      repositories: Array.from({ length: count }, (_, i) => ({
        url: `ssh://git@git.example/acme-${i}`,
        ref: "main",
        credential: "deploy_key",
      })),
    });
  expect((await set(one, 20)).status).toBe(200);
  const { error } = await set(one, 21);
  expect([error?.code, error?.details]).toEqual(["QUOTA_EXCEEDED", { resource: "repositories", limit: 20 }]);
  await setQuota(ownAccount.id, "repositories", CODE.repositoriesMax);
  expect((await set(one, CODE.repositoriesMax)).status).toBe(200);
  expect((await set(one, CODE.repositoriesMax + 1)).error?.code).toBe("VALIDATION_ERROR");
  await setQuota(ownAccount.id, "repositories", 1);
  expect((await set(one, CODE.repositoriesMax)).status).toBe(200);
  expect((await set(other, 2)).error?.details).toEqual({ resource: "repositories", limit: 1 });
});

test("hosts in other scripts are stored and shown in their ASCII form", async () => {
  const repositories = [
    { url: "https://git.müller.example/acme", ref: "main" },
    { url: "ssh://git@git.МОСКВА.example/acme", ref: "main", credential: "deploy_key" },
  ];
  const { repositories: savedRepositories } = (await api.put(await path(), { repositories })).as(Code);
  expect(savedRepositories.map(({ url }) => url)).toEqual([
    "https://git.xn--mller-kva.example/acme",
    "ssh://git@git.xn--80adxhks.example/acme",
  ]);
  const url = `https://git.müller.example/${"a".repeat(470)}`; // 497 characters, and 504 as it would be stored
  const { error } = await api.put(await path(), { repositories: [{ url, ref: "main" }] });
  expect(Failure.parse(error?.details).errors).toEqual([
    { field: "repositories.0.url", reason: "must have at most 500 characters" },
  ]);
});
