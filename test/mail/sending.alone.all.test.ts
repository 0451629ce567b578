// Mail from the change that requests it to the mailbox: sent once, tried again, never in clear, and only to whom it may go.
import { readdirSync, readFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { simpleParser } from "mailparser";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startChange } from "../../shared/data/change.ts";
import { keys } from "../../shared/data/keys.ts";
import { queryAll, updateOne } from "../../shared/data/table.ts";
import { MailFile } from "../../shared/mail/senders.ts";
import { requestMail } from "../../shared/records/mails.ts";
import { noteBounce } from "../../shared/records/users.ts";
import { disableWebhook, getWebhook } from "../../shared/records/webhooks.ts";
import { WithSecret } from "../../shared/api/webhooks.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { testClock } from "../harness/clock.ts";
import { ownCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { unique } from "../harness/unique.ts";

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
const eventually = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { timeout: 20_000, interval: 200 });
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
    const seen: string[] = [];
    const stop = cloud.aws.intercept(async (call, next) => {
      seen.push(JSON.stringify(await call.input()));
      return next(call);
    });
    const token = `t${"0123456789abcdef".repeat(3)}`;
    await request(me, reset(to, token));
    await eventually(() => expect(mailsTo(to)).toHaveLength(1));
    stop();
    const stored = await queryAll(keys.mail(me.id, "").pk, { consistent: true });
    expect(JSON.stringify(stored)).not.toContain(token);
    expect(JSON.stringify(stored)).not.toContain("sealed_token");
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.filter((each) => each.includes(token))).toEqual([]);
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

describe("a webhook that is disabled", () => {
  test("is told to owners, once each, in their language, and to nobody whose mailbox bounces", async () => {
    const me = await account({ seeded: true });
    const { id } = (
      await me.api.post("/webhooks", { name: "Billing <b>evil.com</b>", url: "https://flaky.example/", events: ["*"] })
    ).as(WithSecret);
    const { user } = me;
    const [colleague, bouncing] = [await me.anotherUser(), await me.anotherUser()];
    await updateOne(keys.user(user.id), { set: { language: "de" } }, {});
    await noteBounce(bouncing.email.toUpperCase());
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
