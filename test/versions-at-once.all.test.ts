// Versions: requests at once, with and without `If-Match`, do not overwrite each other.
import { beforeAll, expect, test } from "vitest";
import { setQuota } from "../shared/operations/accounts/operator.ts";
import { account, type TestAccount, unique, uniqueDomain } from "./harness/account.ts";
import { type ApiResponse, statusesOf } from "./harness/client.ts";
import { seedInstance, seedServer } from "./harness/seed.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
  for (const kind of ["server", "instance"] as const) await setQuota(me.id, kind, 1_000);
});

const etagOf = ({ headers }: ApiResponse): string => headers["etag"] ?? "";

test("only one of several concurrent changes with the same If-Match succeeds", async () => {
  const server = await seedServer(me.id);
  const instance = await seedInstance(me.id, { server_id: server.id });
  const paths: [path: string, body: (i: number) => object][] = [
    [`/servers/${server.id}`, () => ({ name: unique("race") })],
    [`/instances/${instance.id}`, (i) => (i % 2 === 0 ? { name: `Race ${i}` } : { admin_email: `race${i}@example.com` })],
    [`/instances/${instance.id}`, () => ({ domain: uniqueDomain() })],
    ["/settings", (i) => ({ backup_retention_days: i + 40 })],
  ];
  for (const [path, body] of paths) {
    const { api } = await me.token();
    const headers = { "if-match": etagOf(await api.get(path)) };
    const responses = await Promise.all(Array.from({ length: 12 }, (_, i) => api.put(path, body(i), { headers })));
    expect(statusesOf(responses), path).toEqual([200, ...Array.from({ length: 11 }, () => 412)]);
    const etag = etagOf(await api.get(path));
    for (const { status, error } of responses) if (status === 412) expect(error).toMatchObject({ code: "PRECONDITION_FAILED" });
    expect(
      responses.flatMap((response) => (response.status === 200 ? [etagOf(response)] : [])),
      path,
    ).toEqual([etag]);
  }
});

test("a deletion with If-Match does not overtake a rename", async () => {
  const { api } = await me.token();
  for (let round = 0; round < 5; round++) {
    const path = `/servers/${(await seedServer(me.id)).id}`;
    const headers = { "if-match": etagOf(await api.get(path)) };
    const [renamed, removed] = await Promise.all([
      api.put(path, { name: unique("kept") }, { headers }),
      api.delete(path, { headers }),
    ]);
    expect(statusesOf([renamed, removed])).toEqual(renamed.status === 200 ? [200, 412] : [202, 412]);
  }
});

test("without If-Match, concurrent changes to different fields do not overwrite each other", async () => {
  const { api } = await me.token();
  const { id } = await seedInstance(me.id);
  await Promise.all([
    api.put(`/instances/${id}`, { name: "Both" }),
    api.put(`/instances/${id}`, { admin_email: "both@example.com" }),
  ]);
  expect((await api.get(`/instances/${id}`)).body).toMatchObject({ data: { name: "Both", admin_email: "both@example.com" } });
  await Promise.all([
    api.put("/settings", { account_name: "Both" }),
    api.put("/settings", { backup_retention_days: 77 }),
    api.put("/settings", { contact_email: "both@example.com" }),
  ]);
  expect((await api.get("/settings")).body).toMatchObject({
    data: { account_name: "Both", backup_retention_days: 77, contact_email: "both@example.com" },
  });
});
