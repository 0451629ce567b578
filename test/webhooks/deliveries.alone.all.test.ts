// Webhooks from the change to the receiver: signed, tried again, isolated from each other, and acting for somebody who may read
// what is sent.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Webhook as Verifier } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { Delivery, Webhook, WithSecret } from "../../shared/api/webhooks.ts";
import { queryAll, updateOne } from "../../shared/data/table.ts";
import { keys } from "../../shared/data/keys.ts";
import { claimChatMessage } from "../../shared/operations/events/chat-pace.ts";
import { disableIfFailing, getWebhook, healthRef } from "../../shared/records/webhooks.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { testClock } from "../harness/clock.ts";
import { ownCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { unique } from "../harness/unique.ts";

const DAY_MINUTES = 1_440;

const clock = testClock();
let cloud: TestCloud;
beforeAll(async () => {
  // Messages wait as long as on AWS, and no rule runs by itself.
  cloud = await ownCloud({
    clock: clock.shared,
    streams: true,
    schedules: false,
    timeScale: 0.001,
    environment: { LOOPBACK_RECEIVERS: "true" },
  });
});

interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}
const servers: { close: () => unknown; closeAllConnections: () => void }[] = [];
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** A receiver on this machine that keeps what it gets. */
async function receiver(
  respond: (count: number) => Parameters<RequestListener>[1]["statusCode"] | undefined = () => 200,
  { afterMs = 0, headers = {} }: { afterMs?: number; headers?: Record<string, string> } = {},
) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
      const status = respond(received.length);
      if (status !== undefined) setTimeout(() => response.writeHead(status, headers).end("thanks"), afterMs);
    });
  });
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return { url: `http://127.0.0.1:${port}/hooks`, received };
}

const hook = async (me: TestAccount, fields: Record<string, unknown>) =>
  (await me.api.post("/webhooks", { name: unique("hook"), events: ["settings.update"], ...fields })).as(WithSecret);
const change = async (me: TestAccount, days: number): Promise<void> =>
  void (await me.api.put("/settings", { backup_retention_days: days }));
const deliveriesOf = async (me: TestAccount, id: string, query = ""): Promise<Delivery[]> =>
  (await me.api.get(`/webhooks/${id}/deliveries?per_page=100${query}`)).as(z.array(Delivery));
const sweep = (): Promise<void> => cloud.events.fire("dispatch");
const eventually = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { timeout: 60_000, interval: 500 });

describe("a delivery", () => {
  test("is signed as Standard Webhooks says, which its own package, Python and PHP verify", async () => {
    const me = await account({ seeded: true });
    const { url, received } = await receiver();
    const { id, secret } = await hook(me, { url, events: ["*"] });
    const instance = await me.instance();
    await me.api.put(`/instances/${instance.id}`, { name: "Renamed" });
    await eventually(() => expect(received.filter(({ body }) => body.includes('"instance.update"'))).toHaveLength(1));

    const last = received.find(({ body }) => body.includes('"instance.update"'));
    const headers = z
      .object({ "webhook-id": z.string(), "webhook-timestamp": z.string(), "webhook-signature": z.string() })
      .parse(last?.headers);
    const body = last?.body ?? "";
    const sent = new Verifier(secret ?? "").verify(body, headers);
    expect(sent).toMatchObject({
      type: "instance.update",
      data: { event: { id: headers["webhook-id"], resource: { id: instance.id } }, object: { id: instance.id, name: "Renamed" } },
    });
    expect(() => new Verifier(secret ?? "").verify(body.replace("Renamed", "Forged"), headers)).toThrow(/signature/i);
    for (const { body: each } of received) expect(each).not.toMatch(/machine_id|account_id|host_keys|admin_password|"number"/);

    const folder = mkdtempSync(join(tmpdir(), "verify-"));
    try {
      writeFileSync(join(folder, "verify.py"), PYTHON);
      const verifierArguments = [secret ?? "", headers["webhook-id"], headers["webhook-timestamp"], headers["webhook-signature"]];
      writeFileSync(join(folder, "verify.php"), PHP);
      for (const [language, file] of [
        ["python3", "verify.py"],
        ["php", "verify.php"],
      ] as const) {
        if (language === "php" && !HAS_PHP) continue; // Python's is the same, and always here
        const verify = (text: string) =>
          execFileSync(language, [join(folder, file), ...verifierArguments], { input: text })
            .toString()
            .trim();
        expect([language, verify(body)]).toEqual([language, "valid"]);
        expect([language, verify(`${body} `)]).toEqual([language, "forged"]);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
    const [delivery] = await deliveriesOf(me, id, "&event_type=instance.update");
    expect(delivery).toMatchObject({
      status: "delivered",
      next_try_at: null,
      tries: [{ http_status: 200, response_excerpt: "thanks", error: null }],
    });
  });

  test("is of everything that has happened: requests, and how they ended; none is lost, none twice, and none of what was withdrawn", async () => {
    const me = await account({ seeded: true });
    const { url, received } = await receiver();
    await hook(me, { url, events: ["*"] });
    const server = await me.server();
    await me.until(server.operation_id).catch(() => undefined);
    for (let days = 1; days <= 12; days++) await change(me, days);
    const lists = async () =>
      (
        await Promise.all(
          ["audit", "outcomes"].map(async (list) =>
            (await me.api.get(`/events?class=${list}&per_page=100`)).as(z.array(z.object({ id: z.string(), type: z.string() }))),
          ),
        )
      )
        .flat()
        .filter(({ type }) => type !== "webhook.create" && !/^(account|user|token|auth|ssh_key|server\.create$)/.test(type));
    await eventually(async () => {
      const expected = (await lists()).map(({ id }) => id).filter(Boolean);
      const got = received.map(({ headers }) => String(headers["webhook-id"]));
      expect(expected.filter((each) => !got.includes(each))).toEqual([]);
    });
    await sweep();
    const ids = received.map(({ headers }) => String(headers["webhook-id"]));
    expect(new Set(ids).size).toBe(ids.length);
    // Nothing is left in the outbox of this account.
    const outbox = await Promise.all(
      Array.from({ length: 8 }, (_, shard) => queryAll(keys.outboxShard(shard), { consistent: true })),
    );
    expect(outbox.flat().filter((item) => item["account_id"] === me.id)).toEqual([]);
  });

  test("that fails is tried again with the same bytes, until the receiver takes it", async () => {
    const me = await account();
    const { url, received } = await receiver((count) => (count < 3 ? 500 : 204));
    const { id } = await hook(me, { url });
    await change(me, 5);
    await eventually(() => expect(received.length).toBeGreaterThanOrEqual(1));
    await eventually(async () => expect((await me.api.get(`/webhooks/${id}`)).as(Webhook).status).toBe("failing"));
    await vi.waitFor(
      async () => {
        clock.advance(7);
        await sweep();
        expect(received).toHaveLength(3);
      },
      { timeout: 30_000, interval: 1_000 },
    );
    await eventually(async () => expect((await deliveriesOf(me, id))[0]?.status).toBe("delivered"));
    const [delivery] = await deliveriesOf(me, id);
    expect(delivery?.tries.map(({ http_status }) => http_status)).toEqual([500, 500, 204]);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    await eventually(async () => expect((await me.api.get(`/webhooks/${id}`)).as(Webhook).status).toBe("ok"));
  });

  test("to a receiver that is gone disables the webhook, with an event; enabling takes it over", async () => {
    const me = await account();
    const { id } = await hook(me, { url: "https://fail-410.example/" });
    await change(me, 6);
    await eventually(async () =>
      expect((await me.api.get(`/webhooks/${id}`)).as(Webhook)).toMatchObject({
        status: "disabled",
        enabled: false,
        disabled_reason: "gone",
      }),
    );
    expect((await me.api.get("/events?type=webhook.disabled")).meta?.total).toBe(1);
    expect((await me.api.post(`/webhooks/${id}/test`, {})).error).toMatchObject({
      code: "INVALID_STATE",
      details: { status: "disabled" },
    });
    const enabled = (await me.api.put(`/webhooks/${id}`, { enabled: true, url: "https://flaky.example/" })).as(Webhook);
    expect(enabled).toMatchObject({ enabled: true, disabled_reason: null });
  });
});

const CHANGES = 30;

test("whatever is killed in between, every event arrives, and nothing that has not happened", async () => {
  const me = await account();
  // It responds so late that most kills meet a delivery in the middle.
  const { url, received } = await receiver(() => 200, { afterMs: 100 });
  await hook(me, { url });
  const functions = cloud.template.functions.filter(({ name }) => /-schedules(?:dispatch|deliver)[0-9A-F]{8}$/.test(name));
  expect(functions).toHaveLength(2);
  for (let days = 1; days <= CHANGES; days++) {
    await change(me, days);
    for (const { name } of functions) await cloud.lambda.kill(name);
    if (days % 5 === 0) {
      clock.advance(2);
      await sweep().catch(() => undefined);
    }
  }
  const expected = (await me.api.get("/events?type=settings.update&per_page=100"))
    .as(z.array(z.object({ id: z.string() })))
    .map(({ id }) => id);
  expect(expected).toHaveLength(CHANGES);
  let before = 0;
  await vi.waitFor(
    async () => {
      // A lane whose run was killed is free after a minute; but as long as deliveries arrive, the clock must not outrun those who
      // send them.
      if (received.length === before) clock.advance(2);
      before = received.length;
      await sweep();
      expect(new Set(received.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set(expected));
    },
    { timeout: 300_000, interval: 1_000 },
  );
  // What was sent twice, because the first time was not recorded, has the same ID and the same bytes.
  expect(new Set(received.map(({ headers, body }) => `${String(headers["webhook-id"])} ${body}`)).size).toBe(CHANGES);
});

test("a webhook whose token was revoked sends nothing more", async () => {
  const me = await account();
  const { url, received } = await receiver();
  const { id: tokenId, api } = await me.token();
  const { id } = (await api.post("/webhooks", { name: "Theirs", url, events: ["settings.update"] })).as(WithSecret);
  await (await me.session()).delete(`/tokens/${tokenId}`);
  await change(me, 7);
  await eventually(async () =>
    expect((await me.api.get(`/webhooks/${id}`)).as(Webhook)).toMatchObject({
      status: "disabled",
      disabled_reason: "credential",
    }),
  );
  expect(received).toEqual([]);
});

test("a silent receiver delays no other, and is slow from its second timeout on", async () => {
  const me = await account();
  const [dead, well] = [await receiver(() => undefined), await receiver()];
  const { id } = await hook(me, { url: dead.url });
  await hook(me, { url: well.url });
  const began = Date.now();
  for (let days = 1; days <= 8; days++) await change(me, days);
  await vi.waitFor(() => expect(well.received).toHaveLength(8), { timeout: 120_000, interval: 200 });
  // One after the other, the eight tries of the silent one alone would take 80 s.
  expect(Date.now() - began).toBeLessThan(80_000);
  await eventually(async () => expect((await me.api.get(`/webhooks/${id}`)).as(Webhook).status).toBe("failing"));
});

test("deliveries that failed are sent again on request, one or all of them", async () => {
  const me = await account();
  const { url, received } = await receiver();
  const { id } = await hook(me, { url });
  await change(me, 8);
  await eventually(async () => expect((await deliveriesOf(me, id))[0]?.status).toBe("delivered"));
  const [delivery] = await deliveriesOf(me, id);
  const again = (await me.api.post(`/webhooks/${id}/deliveries/${delivery?.id}/redeliver`, {})).as(Delivery);
  expect(again).toMatchObject({ id: delivery?.id, status: "pending" });
  expect((await me.api.get("/events?type=webhook.redeliver")).meta?.total).toBe(1);
  await eventually(() => expect(received).toHaveLength(2));
  expect(received[0]?.body).toBe(received[1]?.body);
  expect(
    (await me.api.post(`/webhooks/${id}/redeliver`, { since: "2020-01-01T00:00:00Z" })).as(z.object({ count: z.number() })).count,
  ).toBe(0);
  await me.api.delete(`/webhooks/${id}`);
  expect((await me.api.get(`/webhooks/${id}/deliveries`)).status).toBe(404);
});

test("a receiver that asks for time gets it", async () => {
  const me = await account();
  const { url, received } = await receiver((count) => (count === 1 ? 503 : 200), { headers: { "retry-after": "3000" } });
  const { id } = await hook(me, { url });
  await change(me, 9);
  await eventually(async () => expect((await deliveriesOf(me, id))[0]?.tries).toHaveLength(1));
  const [delivery] = await deliveriesOf(me, id);
  const pause = Date.parse(delivery?.next_try_at ?? "") - Date.parse(delivery?.tries[0]?.at ?? "");
  expect(Math.round(pause / 100_000)).toBe(30);
  expect(received).toHaveLength(1);
});

test("this service is no receiver, whatever it is called", async () => {
  const me = await account();
  const { port } = new URL(cloud.apiUrl);
  for (const host of ["127.0.0.1", "localhost"])
    expect(
      (await me.api.post("/webhooks", { name: "Loop", url: `http://${host}:${port}/api/v1/x`, events: ["*"] })).error,
    ).toMatchObject({
      code: "VALIDATION_ERROR",
      details: { field: "url", reason: "must not lead to this service" },
    });
});

test("the URL of a chat can be replaced, and stays if a client sends back what it has read", async () => {
  const me = await account();
  const [first, second] = [await receiver(), await receiver()];
  const { id } = await hook(me, { url: first.url, format: "slack" });
  const { url: masked } = (await me.api.put(`/webhooks/${id}`, { url: second.url })).as(Webhook);
  (await me.api.put(`/webhooks/${id}`, { name: "Renamed", url: masked })).as(Webhook);
  expect((await me.api.post(`/webhooks/${id}/test`, {})).as(Delivery).status).toBe("delivered");
  expect([first.received.length, second.received.length]).toEqual([0, 1]);
});

test("a rotated secret and the one before both sign for a day", async () => {
  const me = await account();
  const { url, received } = await receiver();
  const { id, secret: before } = await hook(me, { url });
  const { secret: after } = (await me.api.post(`/webhooks/${id}/rotate-secret`, {})).as(WithSecret);
  expect(after).not.toBe(before);
  expect((await me.api.post(`/webhooks/${id}/test`, {})).as(Delivery)).toMatchObject({ status: "delivered" });
  const headers = z.record(z.string(), z.string()).parse(received[0]?.headers);
  for (const secret of [before, after]) new Verifier(secret ?? "").verify(received[0]?.body ?? "", headers);
});

test("messages of chats say what and why, and let no name mention anybody or lead anywhere", async () => {
  const me = await account();
  const chats = ["slack", "discord", "teams"] as const;
  for (const format of chats) {
    const { url, received } = await receiver();
    const { id, secret, url: masked } = await hook(me, { url, format, events: ["server.create.failed", "server.update"] });
    expect(secret).toBeNull();
    expect(masked).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/…ooks$/);
    const delivery = (await me.api.post(`/webhooks/${id}/test`, {})).as(Delivery);
    expect(delivery.status).toBe("delivered");
    expect(received[0]?.body).toContain("A webhook was tested");
    expect(received[0]?.headers["webhook-signature"]).toBeUndefined();
    expect((await me.api.post(`/webhooks/${id}/rotate-secret`, {})).error).toMatchObject({ code: "INVALID_STATE" });
    const stored = JSON.stringify(await queryAll(keys.webhooks(me.id), { consistent: true }));
    expect(stored).not.toContain(url);
  }
});

test("a test of a chat is sent each time, as is what somebody sends again", async () => {
  const me = await account();
  const [wrong, right] = [await receiver(() => 404), await receiver()];
  const { id } = await hook(me, { url: wrong.url, format: "slack" });
  expect((await me.api.post(`/webhooks/${id}/test`, {})).as(Delivery).status).toBe("failed");
  (await me.api.put(`/webhooks/${id}`, { url: right.url })).as(Webhook);
  for (const count of [1, 2]) {
    expect((await me.api.post(`/webhooks/${id}/test`, {})).as(Delivery)).toMatchObject({
      status: "delivered",
      tries: [{ http_status: 200, reason: null }],
    });
    expect(right.received).toHaveLength(count);
  }
  for (const days of [10, 11]) {
    await change(me, days);
    await eventually(async () =>
      expect((await deliveriesOf(me, id, "&event_type=settings.update"))[0]?.status).toBe("delivered"),
    );
  }
  await eventually(async () =>
    expect((await deliveriesOf(me, id, "&event_type=settings.update&status=delivered")).length).toBe(2),
  );
  const sent = right.received.length;
  const [joined] = await deliveriesOf(me, id, "&event_type=settings.update");
  await me.api.post(`/webhooks/${id}/deliveries/${joined?.id}/redeliver`, {});
  await eventually(() => expect(right.received).toHaveLength(sent + 1));
});

test("of events at once, a chat gets one message a minute, and the next one sums up all others", async () => {
  const webhook = { account_id: unique("account"), id: unique("webhook") };
  const resource = { type: "server", id: unique("server"), name: "Shop" } as const;
  for (const otherCount of [0, 2, 2, 2]) {
    const events = ["a", "b", "c"].map((id) => ({ id: unique(id), type: "server.offline", resource }));
    const claims = await Promise.all(events.map((event) => claimChatMessage(webhook, event)));
    expect(claims.filter((also) => also !== undefined)).toEqual([otherCount]);
    // A run that was killed before it sent the message sends the same one.
    const claimed = events[claims.indexOf(otherCount)];
    expect(claimed && (await claimChatMessage(webhook, claimed))).toBe(otherCount);
    clock.advance(2);
  }
});

// The last one: it moves the clock by days.
test("five days of failures without a success disable a webhook that has nothing left to deliver, and a success in between saves it", async () => {
  const me = await account();
  const [failing, saved] = [await hook(me, { url: "https://flaky.example/" }), await hook(me, { url: (await receiver()).url })];
  const show = async ({ id }: { id: string }): Promise<Webhook> => (await me.api.get(`/webhooks/${id}`)).as(Webhook);
  expect((await me.api.post(`/webhooks/${failing.id}/test`, {})).as(Delivery).status).toBe("failed");
  await updateOne(healthRef(me.id, saved.id).key, { set: { failing_since: new Date().toISOString() } }, { exists: false });
  clock.advance(5 * DAY_MINUTES - 60);
  await cloud.events.fire("sweep");
  expect([await show(failing), await show(saved)]).toMatchObject([{ status: "failing" }, { status: "failing" }]);
  expect((await me.api.post(`/webhooks/${saved.id}/test`, {})).as(Delivery).status).toBe("delivered");
  clock.advance(120);
  await cloud.events.fire("sweep");
  expect(await show(failing)).toMatchObject({ status: "disabled", disabled_reason: "failing" });
  expect(await show(saved)).toMatchObject({ status: "ok" });
  expect((await me.api.get("/events?type=webhook.disabled")).meta?.total).toBe(1);
  // One that has succeeded since it was read stays.
  const stale = { tests: [], timeouts: 0, failing_since: "2020-01-01T00:00:00.000Z", last_delivery_at: null };
  await disableIfFailing(await getWebhook(me.id, saved.id), stale);
  expect(await show(saved)).toMatchObject({ status: "ok" });
});

const HAS_PHP = (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, "php")));

const PYTHON = `
import base64, hashlib, hmac, sys
secret, id, timestamp, signatures = sys.argv[1:]
body = sys.stdin.buffer.read()
key = base64.b64decode(secret.removeprefix("whsec_"))
expected = base64.b64encode(hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()).decode()
version_1 = [part.split(",", 1)[1] for part in signatures.split(" ") if part.startswith("v1,")]
print("valid" if any(hmac.compare_digest(expected, each) for each in version_1) else "forged")
`;

const PHP = `<?php
[, $secret, $id, $timestamp, $signatures] = $argv;
$body = stream_get_contents(STDIN);
$key = base64_decode(substr($secret, strlen("whsec_")));
$expected = base64_encode(hash_hmac("sha256", "$id.$timestamp.$body", $key, true));
$valid = false;
foreach (explode(" ", $signatures) as $signature) $valid = $valid || hash_equals("v1,$expected", $signature);
echo $valid ? "valid" : "forged";
`;
