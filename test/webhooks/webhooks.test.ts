// The endpoints of webhooks: what they take, who may use them, and what they never show.
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { BASE_PATH } from "../../shared/api/base-path.ts";
import { Delivery, Webhook, WithSecret } from "../../shared/api/webhooks.ts";
import { keys } from "../../shared/data/keys.ts";
import { queryAll } from "../../shared/data/table.ts";
import { isSubscribed, permissionsFor } from "../../shared/api/subscriptions.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import { unique } from "../harness/unique.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

const URL_OK = "https://flaky.example/hooks";
const body = (fields: Record<string, unknown> = {}) => ({
  name: unique("hook"),
  url: URL_OK,
  events: ["settings.update"],
  ...fields,
});
const create = async (fields: Record<string, unknown> = {}, api = me.api): Promise<z.infer<typeof WithSecret>> =>
  (await api.post("/webhooks", body(fields))).as(WithSecret);

test("the Location of a new webhook leads to it", async () => {
  const response = await me.api.post("/webhooks", body({}));
  expect(response.headers["location"]).toBe(`${BASE_PATH}/webhooks/${response.as(WithSecret).id}`);
});

describe("POST /webhooks", () => {
  test("creates one, whose secret only this response has, and which is stored encrypted", async () => {
    const webhook = await create({ name: "Tickets" });
    expect(webhook).toEqual({
      id: expect.stringMatching(/^whk_/),
      name: "Tickets",
      url: URL_OK,
      format: "json",
      events: ["settings.update"],
      enabled: true,
      status: "ok",
      disabled_reason: null,
      failing_since: null,
      last_delivery_at: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const responseText = (await me.api.get(`/webhooks/${webhook.id}`)).text + (await me.api.get("/webhooks")).text;
    const stored = JSON.stringify(await queryAll(keys.webhooks(me.id), { consistent: true }));
    const value = webhook.secret?.slice("whsec_".length) ?? "";
    expect(responseText.includes(value) || stored.includes(value) || responseText.includes("acts_for")).toBe(false);
    expect((await me.api.get("/events?type=webhook.create")).meta?.total).toBeGreaterThan(0);
  });

  test.each([
    ["http://example.com/", "must be https"],
    ["https://10.0.0.1/", "must not lead to a private address"],
    ["https://[::ffff:127.0.0.1]/", "must not lead to a private address"],
    ["https://a:b@flaky.example/", "must not contain a user name or password"],
    ["https://93.184.216.34:22/", "must use port 443 or 8443"],
    ["https://surely.does-not-exist.test/", "does not resolve"],
    ["http://127.0.0.1:4000/", "must be https"], // only `npm start` allows it
  ])("does not take %s: %s", async (url, reason) => {
    expect((await me.api.post("/webhooks", body({ url }))).error).toMatchObject({
      code: "VALIDATION_ERROR",
      details: { field: "url", reason },
    });
  });

  test("does not take events that there are not", async () => {
    for (const events of [[], ["nothing.at_all"], ["nothing.*"], ["changes", ""]])
      expect((await me.api.post("/webhooks", body({ events }))).status).toBe(422);
  });

  test("needs the read permission of every kind whose events it is sent", async () => {
    const { api } = await me.token(["settings:write", "servers:read"]);
    expect((await api.post("/webhooks", body({ events: ["server.*", "ssh_key.create"] }))).status).toBe(201);
    for (const [events, missing] of [
      [["instance.down"], "instances:read"],
      [["backup.*"], "backups:read"],
      [["changes"], "instances:read"],
      [["*"], "instances:read"],
      [["alert.opened"], "instances:read"],
      [["backup.restore"], "instances:read"],
    ] as const)
      expect((await api.post("/webhooks", body({ events }))).error).toMatchObject({
        code: "FORBIDDEN",
        message: expect.stringContaining(missing),
      });
    const all = await create({ events: ["*"] });
    for (const [method, path] of [
      ["PUT", ""],
      ["DELETE", ""],
      ["POST", "/test"],
      ["POST", "/rotate-secret"],
    ] as const)
      expect((await api.send(method, `/webhooks/${all.id}${path}`, method === "PUT" ? { name: "Mine" } : undefined)).status).toBe(
        403,
      );
  });
});

test("groups, prefixes and names", () => {
  expect(isSubscribed(["changes"], "backup.create.failed")).toBe(true);
  expect(isSubscribed(["changes"], "server.offline")).toBe(false);
  expect(isSubscribed(["alerts"], "server.offline")).toBe(true);
  expect(isSubscribed(["alerts"], "backup.drill_failed")).toBe(true);
  expect(isSubscribed(["alerts"], "server.update")).toBe(false);
  expect(isSubscribed(["backup.*"], "backup.create.failed")).toBe(true);
  expect(isSubscribed(["backup.*"], "backup_policy.update")).toBe(false);
  expect(isSubscribed(["server.create"], "server.create.failed")).toBe(false);
  expect(permissionsFor(["backup.*", "settings.update"])).toEqual(["backups:read"]);
  expect(permissionsFor(["settings.update"])).toEqual([]);
});

test("PUT changes what it names, and takes a version", async () => {
  const { id } = await create();
  const { headers } = await me.api.get(`/webhooks/${id}`);
  const changed = (await me.api.put(`/webhooks/${id}`, { name: "Other", enabled: false })).as(Webhook);
  expect(changed).toMatchObject({ name: "Other", status: "disabled", url: URL_OK });
  const late = await me.api.send(
    "PUT",
    `/webhooks/${id}`,
    { name: "Late" },
    { headers: { "if-match": String(headers["etag"]) } },
  );
  expect(late.status).toBe(412);
  expect((await me.api.post(`/webhooks/${id}/test`, {})).error).toMatchObject({
    code: "INVALID_STATE",
    details: { status: "disabled" },
  });
});

test("a test is one try, shown at once, at most six times a minute", async () => {
  const { id } = await create();
  const delivery = (await me.api.post(`/webhooks/${id}/test`, {})).as(Delivery);
  expect(delivery).toMatchObject({
    event_type: "webhook.test",
    status: "failed", // flaky.example fails its first two tries, and a test is not tried again
    next_try_at: null,
    tries: [{ http_status: 500, error: null, response_excerpt: "Try again" }],
  });
  expect((await me.api.get(`/webhooks/${id}/deliveries/${delivery.id}`)).as(Delivery)).toEqual(delivery);
  expect((await me.api.get(`/webhooks/${id}`)).as(Webhook)).toMatchObject({ status: "failing" });
  for (let n = 0; n < 5; n++) expect((await me.api.post(`/webhooks/${id}/test`, {})).status).toBe(200);
  const seventh = await me.api.post(`/webhooks/${id}/test`, {});
  expect(seventh.error).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", details: { scope: "webhook_test", limit: 6 } });
  expect(Number(seventh.headers["retry-after"])).toBeGreaterThan(0);
  const page = await me.api.get(`/webhooks/${id}/deliveries?status=failed&event_type=webhook.test&per_page=4`);
  expect([page.as(z.array(Delivery)).length, page.meta?.total]).toEqual([4, 6]);
});

test("deliveries are listed by their IDs: the webhook's own, and those that exist", async () => {
  const [id, other] = [await me.webhook(3), await me.webhook(1)];
  const all = (await me.api.get(`/webhooks/${id}/deliveries`)).as(z.array(Delivery)).map((each) => each.id);
  const [foreign] = (await me.api.get(`/webhooks/${other}/deliveries`)).as(z.array(Delivery)).map((each) => each.id);
  const ids = [all[2], foreign, unusedId("delivery"), all[0]].join(",");
  const response = await me.api.get(`/webhooks/${id}/deliveries?ids=${ids}`);
  expect(response.as(z.array(Delivery)).map((each) => each.id)).toEqual([all[0], all[2]]);
  expect(response.meta).toMatchObject({ total: 2, next_cursor: null });
  expect((await me.api.get(`/webhooks/${id}/deliveries?ids=${id}`)).error?.details).toMatchObject({
    field: "ids",
    reason: "must be IDs of deliveries, separated by commas, at most 100",
  });
});

test("another account's webhook and its deliveries are not there", async () => {
  const other = await account();
  const { id } = await create();
  const { id: delivery } = (await me.api.post(`/webhooks/${id}/test`, {})).as(Delivery);
  for (const [method, path] of [
    ["GET", ""],
    ["DELETE", ""],
    ["POST", "/test"],
    ["GET", "/deliveries"],
    ["GET", `/deliveries/${delivery}`],
    ["POST", `/deliveries/${delivery}/redeliver`],
  ] as const)
    expect((await other.api.send(method, `/webhooks/${id}${path}`)).status).toBe(404);
});
