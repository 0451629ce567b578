// Mail from the change that requests it to the mailbox: sent once, tried again, never in clear, and only to whom it may go.
import { mkdirSync, readdirSync, readFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { simpleParser } from "mailparser";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startChange } from "../../shared/data/change.ts";
import { keys } from "../../shared/data/keys.ts";
import { find, queryAll, updateOne } from "../../shared/data/table.ts";
import { MailFile } from "../../shared/mail/senders.ts";
import { requestMail } from "../../shared/records/mails.ts";
import { newId } from "../../shared/domain/ids.ts";
import type { OutcomeType } from "../../shared/domain/event-types.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import { logOutcome } from "../../shared/records/events.ts";
import { markMailboxBouncing, userRef } from "../../shared/records/users.ts";
import { getToken } from "../../shared/records/tokens.ts";
import { disableWebhook, getWebhook } from "../../shared/records/webhooks.ts";
import { WithSecret } from "../../shared/api/webhooks.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { testClock } from "../harness/clock.ts";
import { ownCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { unique } from "../harness/unique.ts";

const DAY_MINUTES = 24 * 60;
const clock = testClock();
const folder = mkdtempSync(join(tmpdir(), "mails-"));
let cloud: TestCloud;
beforeAll(async () => {
  cloud = await ownCloud({
    clock: clock.shared,
    streams: true,
    schedules: false,
    timeScale: 0.001,
    environment: { DASHBOARD_URL: "https://erp.example.com" },
    mail: { MAIL_DIRECTORY: folder },
  });
});
afterAll(() => rmSync(folder, { recursive: true }));

const files = (): MailFile[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => MailFile.parse(JSON.parse(readFileSync(join(folder, name), "utf8"))));
const mailsTo = (address: string): MailFile[] => files().filter(({ to }) => to === address);
const mailer = (): string => cloud.template.functions.find(({ environment }) => "MAIL_BRAND" in environment)?.name ?? "";
const sweep = (): Promise<void> => cloud.events.fire("dispatch");
const eventually = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { timeout: 120_000, interval: 200 });
const address = (): string => `${unique("somebody")}@example.com`;

async function request(me: TestAccount, mail: Parameters<typeof requestMail>[1]): Promise<void> {
  const change = startChange({ id: me.id });
  await requestMail(change, mail);
  await change.commit();
  await sweep(); // the stream does not see what this process writes
}

const reset = (email: string, token = "secret-token-1234567890") => ({
  to: { email },
  message: { type: "password_reset" as const, token },
});

describe("a mail", () => {
  test("arrives within seconds, as text and HTML, with one link to the configured dashboard", async () => {
    const me = await account({ seeded: true });
    const to = address();
    await request(me, reset(to));
    await eventually(() => expect(mailsTo(to)).toHaveLength(1));
    const [{ id } = { id: "" }] = mailsTo(to);
    const parsed = await simpleParser(readFileSync(join(folder, `${id}.eml`)));
    expect(parsed.subject).toBe("[test] Reset your password");
    expect(parsed.text).toContain("https://erp.example.com/reset-password#token=secret-token-1234567890\n");
    expect(String(parsed.html).match(/https?:\/\/[^"\s<]+/g)).toEqual([
      "https://erp.example.com/reset-password#token=secret-token-1234567890",
    ]);
    expect(parsed.headers.get("auto-submitted")).toBe("auto-generated");
    expect(parsed.messageId).toBe(`<${id}@localhost>`);
  });

  test("of a changed password leaves with the change, by the stream", async () => {
    const me = await account({ seeded: true });
    const { email, password } = me.user;
    const session = await me.session();
    await session.put("/auth/password", { current_password: password, new_password: "another-long-password" });
    await eventually(() => expect(mailsTo(email)).toHaveLength(1));
    expect(mailsTo(email)[0]).toMatchObject({ subject: "[test] Your password was changed" });
    expect(mailsTo(email)[0]?.text).toMatch(/IP address: 127\.0\.0\.1/);
  });

  test("is sent once, however often its message and the sweep come", async () => {
    const me = await account({ seeded: true });
    const to = address();
    await request(me, reset(to));
    await Promise.all([sweep(), sweep()]);
    await eventually(() => expect(mailsTo(to)).toHaveLength(1));
    const places = (await queryAll(keys.mailsDue(), { consistent: true })).map(({ sk }) => String(sk));
    expect(places.filter((place) => place.includes(String(mailsTo(to)[0]?.id)))).toEqual([]);
    await Promise.all([sweep(), sweep()]);
    expect(mailsTo(to)).toHaveLength(1);
  });

  test("leaves no link in the table, in a queue or in a log, before and after it is sent", async () => {
    const me = await account({ seeded: true });
    const to = address();
    const inputs: string[] = [];
    const stop = cloud.aws.intercept(async (call, next) => {
      inputs.push(JSON.stringify(await call.input()));
      return next(call);
    });
    const token = `t${"0123456789abcdef".repeat(3)}`;
    await request(me, reset(to, token));
    await eventually(() => expect(mailsTo(to)).toHaveLength(1));
    stop();
    const stored = await queryAll(keys.mail(me.id, "").pk, { consistent: true });
    expect(JSON.stringify(stored)).not.toContain(token);
    expect(JSON.stringify(stored)).not.toContain("sealed_token");
    expect(inputs.length).toBeGreaterThan(0);
    expect(inputs.filter((each) => each.includes(token))).toEqual([]);
    expect(cloud.lambda.logs(mailer()).join("\n")).toContain("sent a mail");
    expect(cloud.lambda.logs(mailer()).join("\n")).not.toContain(token);
  });

  test("whose function dies in a try is sent by a later one", async () => {
    const me = await account({ seeded: true });
    const to = address();
    let killed = 0;
    const stop = cloud.aws.intercept(async (call, next) => {
      const result = await next();
      // It has taken the mail, and goes on to send it.
      if (call.principal === mailer() && call.action === "TransactWriteItems" && killed++ === 0)
        await cloud.lambda.kill(mailer());
      return result;
    });
    await request(me, reset(to));
    await eventually(() => expect(killed).toBeGreaterThan(0));
    await sweep();
    expect(mailsTo(to)).toEqual([]);
    clock.advance(3);
    await sweep();
    await eventually(() => expect(mailsTo(to)).toHaveLength(1));
    stop();
  });
});

/** Returns an event as SES reports it to EventBridge. */
const report = (detail: object) => ({
  version: "0",
  id: "9f1c0a3e-0000-0000-0000-000000000000",
  "detail-type": "Email Bounced",
  source: "aws.ses",
  account: "123456789012",
  time: "2026-11-26T10:00:00Z",
  region: "eu-central-1",
  resources: ["arn:aws:ses:eu-central-1:123456789012:configuration-set/ErpControlPlane-test"],
  detail: {
    ...detail,
    mail: {
      timestamp: "2026-11-26T09:59:58.012Z",
      source: "noreply@example.com",
      messageId: "0107019c-0000-0000-0000-000000000000-000000",
      tags: { "ses:configuration-set": ["ErpControlPlane-test"] },
    },
  },
});
const bounce = (bounceType: string, emailAddress: string) =>
  report({
    eventType: "Bounce",
    bounce: {
      bounceType,
      bounceSubType: "General",
      bouncedRecipients: [{ emailAddress, action: "failed", status: "5.1.1", diagnosticCode: "smtp; 550 5.1.1 user unknown" }],
      timestamp: "2026-11-26T10:00:00.669Z",
      feedbackId: "0107019c-0000",
    },
  });
const complaint = (emailAddress: string) =>
  report({
    eventType: "Complaint",
    complaint: {
      complainedRecipients: [{ emailAddress }],
      timestamp: "2026-11-26T10:00:00.669Z",
      feedbackId: "0107019c-0000",
      complaintFeedbackType: "abuse",
    },
  });

test.each([
  ["a bounce", (email: string) => bounce("Permanent", email), "bouncing"],
  ["a complaint", (email: string) => complaint(`Ann <${email}>`), "bouncing"],
  ["a full mailbox", (email: string) => bounce("Transient", email), "ok"],
  ["a bounce of somebody else", () => bounce("Permanent", "nobody@example.com"), "ok"],
])("%s that SES reports is noted on the user", async (_, build, status) => {
  const { user } = await account({ seeded: true });
  await cloud.invoke(mailer(), build(user.email));
  await cloud.invoke(mailer(), build(user.email));
  expect(await find(userRef(user.id))).toMatchObject({ email: user.email, email_status: status });
});

describe("alerts", () => {
  const alert = async (me: TestAccount, name: string, type: OutcomeType = "alert.opened"): Promise<void> => {
    const change = startChange(await getAccount(me.id));
    const by = { actor: { type: "service", id: "service", name: "Health check" }, requestId: "test" } as const;
    const server = { type: "server", id: newId("server"), name };
    const opened = {
      id: newId("alert"),
      kind: "disk_free",
      resource: server,
      status: "open",
      value: 4,
      threshold: 5,
      operation_id: null,
      opened_at: change.at,
      closed_at: null,
      muted_until: null,
    } as const;
    logOutcome(change, by, { type, ...(!type.endsWith(".failed") && { alert: opened }) }, server);
    await change.commit();
    await sweep();
  };

  test("come within a minute, and what follows in one mail after ten", async () => {
    const me = await account({ seeded: true });
    const { email } = me.user;
    await Promise.all([alert(me, "erp-1"), alert(me, "erp-2")]);
    clock.advance(0.5);
    await sweep();
    await eventually(() => expect(mailsTo(email)).toHaveLength(1));
    expect(mailsTo(email)[0]).toMatchObject({ subject: "[test] 2 alerts" });
    expect(mailsTo(email)[0]?.text).toMatch(/erp-1: little free disk space\n[^]*erp-2: little free disk space|erp-2[^]*erp-1/);

    await alert(me, "erp-3");
    await alert(me, "erp-3", "alert.closed");
    clock.advance(9);
    await sweep();
    expect(mailsTo(email)).toHaveLength(1);
    clock.advance(1.5);
    await sweep();
    await eventually(() => expect(mailsTo(email)).toHaveLength(2));
    const [, second] = mailsTo(email).toSorted((a, b) => a.created_at.localeCompare(b.created_at));
    expect(second?.text).toContain("erp-3: little free disk space");
    expect(second?.text).toContain("erp-3: over: little free disk space");
    expect(second?.text).not.toContain("erp-1");
    clock.advance(30);
    await sweep();
    expect(mailsTo(email)).toHaveLength(2);
  });

  test("go to whom the settings say: none, alerts, or failed operations too", async () => {
    const me = await account({ seeded: true });
    const [none, all, viewer] = [await me.anotherUser(), await me.anotherUser(), await me.anotherUser()];
    await updateOne(keys.user(none.id), { set: { notifications: { email: "none" } } }, {});
    await updateOne(keys.user(all.id), { set: { notifications: { email: "all" } } }, {});
    await updateOne(keys.user(viewer.id), { set: { role: "viewer" } }, {});
    await alert(me, "erp-1");
    await alert(me, "erp-2", "server.create.failed");
    clock.advance(1);
    await sweep();
    await eventually(() => expect(mailsTo(all.email)).toHaveLength(1));
    await eventually(() => expect(mailsTo(me.user.email)).toHaveLength(1));
    expect(mailsTo(all.email)[0]?.text).toContain("erp-2");
    expect(mailsTo(me.user.email)[0]?.text).not.toContain("erp-2");
    expect([...mailsTo(none.email), ...mailsTo(viewer.email)]).toEqual([]);
  });
});

describe("a mail server that fails", () => {
  test("is tried for hours, then the mail is reported, without what it says", async () => {
    const me = await account({ seeded: true });
    const to = address();
    const reported: string[] = [];
    const stop = cloud.aws.intercept(async (call, next) => {
      if (call.service === "sqs" && call.principal === mailer()) reported.push(JSON.stringify(await call.input()));
      return next();
    });
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "a file in its place");
    try {
      await request(me, {
        to: { email: to },
        message: { type: "invitation", token: "t0ken-99", account_name: "A", invited_by: "B" },
      });
      for (const minutes of [3, 6, 16, 61, 241, 721]) {
        expect(reported).toEqual([]);
        clock.advance(minutes);
        await sweep();
        // Once the try has been made, the next one is in the future.
        await eventually(async () => expect((await placesOf(me)).every((place) => place > new Date().toISOString())).toBe(true));
      }
      await eventually(() => expect(reported).toHaveLength(1));
      expect(reported[0]).toContain("invitation");
      expect(reported[0]).not.toMatch(/t0ken-99|example\.com/);
      await eventually(async () => expect(await placesOf(me)).toEqual([]));
    } finally {
      stop();
      rmSync(folder);
      mkdirSync(folder);
    }
  });
});

/** Returns the sort keys under which an account's mails wait. */
async function placesOf(me: TestAccount): Promise<string[]> {
  const due = await queryAll(keys.mailsDue(), { consistent: true });
  return due.filter(({ account_id }) => account_id === me.id).map(({ sk }) => String(sk));
}

describe("a webhook that is disabled", () => {
  test("is told to owners, once each, in their language, and to nobody whose mailbox bounces", async () => {
    const me = await account({ seeded: true });
    const { id } = (
      await me.api.post("/webhooks", { name: "Billing <b>evil.com</b>", url: "https://flaky.example/", events: ["*"] })
    ).as(WithSecret);
    const { user } = me;
    const [colleague, bouncing] = [await me.anotherUser(), await me.anotherUser()];
    await updateOne(keys.user(user.id), { set: { language: "de" } }, {});
    await markMailboxBouncing(bouncing.email.toUpperCase());
    await disableWebhook(await getWebhook(me.id, id), "failing");
    await sweep();
    await eventually(() => expect(mailsTo(colleague.email)).toHaveLength(1));
    expect(mailsTo(colleague.email)[0]?.subject).toContain("was disabled");
    await eventually(() => expect(mailsTo(user.email)).toHaveLength(1));
    await sweep();
    const [mail] = mailsTo(user.email);
    expect(mail?.subject).toContain("wurde deaktiviert");
    expect(mail?.text).toContain(`https://erp.example.com/settings/webhooks/${id}`);
    expect(mail?.html).not.toMatch(/<b>|evil\.com/);
    expect([mailsTo(user.email).length, mailsTo(colleague.email).length, mailsTo(bouncing.email).length]).toEqual([1, 1, 0]);
    await request(me, { to: { user_id: bouncing.id }, message: { type: "password_reset", token: "t" } });
    await eventually(() => expect(mailsTo(bouncing.email)).toHaveLength(1));
  });
});

describe("an API token that expires soon", () => {
  test("is told at each step, once, in the reader's language, to whom their settings and permissions allow it", async () => {
    const me = await account({ seeded: true });
    const [german, none, viewer] = [await me.anotherUser(), await me.anotherUser(), await me.anotherUser({ role: "viewer" })];
    await updateOne(keys.user(german.id), { set: { language: "de" } }, {});
    await updateOne(keys.user(none.id), { set: { notifications: { email: "none" } } }, {});
    const inDays = (days: number): string => new Date(Date.now() + days * DAY_MINUTES * 60_000).toISOString();
    const { id } = await me.token(["servers:read"], inDays(10));
    await me.token(["servers:read"], inDays(100));
    const { name } = await getToken(me.id, id);
    const look = () => Promise.all([1, 2].map(() => cloud.events.fire("expirehistory")));
    await look();
    await eventually(() => expect([me.user, german].map(({ email }) => mailsTo(email).length)).toEqual([1, 1]));
    const [mail] = mailsTo(me.user.email);
    expect(mail?.subject).toBe(`[test] API key ${name} expires soon`);
    expect(mail?.text).toContain(`The API key ${name} expires on `);
    expect(mail?.text).toContain("https://erp.example.com/settings/api-keys\n");
    expect(mailsTo(german.email)[0]?.subject).toBe(`[test] Der API-Schlüssel ${name} läuft bald ab`);

    clock.advance(8 * DAY_MINUTES);
    await look();
    await eventually(() => expect([me.user, german].map(({ email }) => mailsTo(email).length)).toEqual([2, 2]));
    await look();
    await sweep();
    expect([me.user, german, none, viewer].map(({ email }) => mailsTo(email).length)).toEqual([2, 2, 0, 0]);
  });
});
