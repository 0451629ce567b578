// Webhooks: how many there may be, and receivers that do not respond.
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { Delivery, WithSecret } from "../../shared/api/webhooks.ts";
import { account, type TestAccount } from "../harness/account.ts";
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

describe("POST /webhooks", () => {
  test("is limited to 20", async () => {
    const other = await account();
    for (let n = 0; n < 20; n++) await other.webhook();
    expect((await other.api.post("/webhooks", body())).error).toMatchObject({
      code: "QUOTA_EXCEEDED",
      details: { resource: "webhooks", limit: 20 },
    });
  });
});

test.each([
  ["", "a".repeat(2_048)],
  [" as it is stored", "ü".repeat(400)],
])("does not take a URL of more than 2,048 characters%s", async (_, path) => {
  const problem = { field: "url", reason: "must have at most 2048 characters" };
  const { error } = await me.api.post("/webhooks", body({ url: `${URL_OK}/${path}` }));
  expect(error?.details).toEqual({ ...problem, errors: [problem] });
});

test("a try without a response says why, also by code", async () => {
  const { id } = await create({ url: "https://slow.example/hooks" });
  const { tries } = (await me.api.post(`/webhooks/${id}/test`, {})).as(Delivery);
  expect(tries).toMatchObject([
    {
      http_status: null,
      error: "No response within 10 s",
      reason: { code: "receiver_silent", parameters: { seconds: "10" } },
    },
  ]);
});
