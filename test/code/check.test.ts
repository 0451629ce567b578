// POST /instances/:id/code/check
import { beforeAll, expect, test } from "vitest";
import { Code } from "../../shared/api/code.ts";
import { Operation } from "../../shared/api/operations.ts";
import { keys } from "../../shared/data/keys.ts";
import { find, putIfAbsent } from "../../shared/data/table.ts";
import { CODE } from "../../shared/domain/limits.ts";
import { JOB_RESULTS } from "../../shared/hosts/host.ts";
import * as z from "zod";
import { account, type TestAccount, unique, unusedId } from "../harness/account.ts";
import { seedInstance } from "../harness/seed.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account({ seeded: true });
});

const URL = () =>
  `https://git.example/${unique("repo")
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, "-")}`;

/** Checks an instance with these repositories, and returns what was found. */
async function checked(repositories: { url: string; ref: string }[]) {
  const { id } = await me.instance();
  const { api } = await me.token();
  await api.put(`/instances/${id}/code`, { repositories });
  const { result } = await me.until((await api.post(`/instances/${id}/code/check`, {})).as(Operation).id);
  return { id, api, findings: result?.code };
}

test("a check finds the commits, which the code shows from then on, and changes nothing of the instance", async () => {
  const url = URL();
  const { api, id, findings } = await checked([{ url, ref: "main" }]);
  expect(findings).toEqual({
    commits: [{ url, ref: "main", commit: expect.stringMatching(/^[0-9a-f]{40}$/), subject: "Modules acme" }],
    problems: [],
  });
  const [repository] = (await api.get(`/instances/${id}/code`)).as(Code).repositories;
  expect(repository).toMatchObject({ newest_commit: findings?.commits[0]?.commit, commit: null });
  expect(repository?.checked_at).not.toBeNull();
  expect(JSON.parse((await api.get(`/sandbox/instances/${id}/data`)).text).data).toEqual({});
});

test("a check succeeds with every problem that it finds", async () => {
  const [good, broken, moved] = [URL(), URL(), URL()];
  const { findings } = await checked([
    { url: good, ref: "main" },
    { url: "https://git.example.com/acme", ref: "main" },
    { url: broken, ref: "broken-manifest" },
    { url: moved, ref: "moved" },
  ]);
  expect(findings?.commits.map(({ url, commit }) => [url, commit !== null])).toEqual([
    [good, true],
    ["https://git.example.com/acme", false],
    [broken, true],
    [moved, true],
  ]);
  expect(findings?.problems.map(({ code, url, module, reason }) => [code, url, module, reason?.code])).toEqual([
    ["CODE_UNREACHABLE", "https://git.example.com/acme", null, "code_no_access"],
    ["CODE_INVALID", broken, "acme", "code_manifest"],
    ["CODE_UNREACHABLE", moved, null, "code_moved"],
  ]);
});

test("an instance has one check at a time, and the next one after that", async () => {
  const { id, api } = await checked([{ url: URL(), ref: "main" }]);
  const key = keys.codeCheck(me.id, id);
  expect(await find({ key, schema: z.looseObject({}) })).toBeUndefined();
  const operationId = unusedId("operation");
  await putIfAbsent(key, { operation_id: operationId });
  expect((await api.post(`/instances/${id}/code/check`, {})).error).toMatchObject({
    code: "OPERATION_IN_PROGRESS",
    details: { operation_id: operationId },
  });
});

test("there is nothing to check without an ERP or an active server", async () => {
  const never = await seedInstance(me.id, { state: "failed", installed: false });
  expect((await me.api.post(`/instances/${never.id}/code/check`, {})).error).toMatchObject({ code: "INVALID_STATE" });
  expect((await me.api.post(`/instances/${unusedId("instance")}/code/check`, {})).status).toBe(404);
});

test("a machine's response is taken for as many repositories as the operator may allow", () => {
  const each = Array.from({ length: CODE.repositoriesMax });
  const commits = each.map(() => ({ commit: "1".repeat(40), problem: null, host_key: null }));
  expect(JOB_RESULTS.resolve_code.safeParse({ commits }).success).toBe(true);
  const fetched = { subjects: each.map(() => "Prices"), problems: [], modules: [], installed: [] };
  expect(JOB_RESULTS.fetch_code.safeParse(fetched).success).toBe(true);
});
