// The texts of mails: every message in every language, with one link, and names that stay names.
import { simpleParser } from "mailparser";
import { expect, test } from "vitest";
import { LANGUAGES } from "../../shared/domain/languages.ts";
import { Message, preferredLanguage } from "../../shared/mail/messages.ts";
import { defuse, readableOn, renderMail } from "../../shared/mail/render.ts";
import { compose } from "../../shared/mail/senders.ts";
import { MESSAGES, MESSAGE_TYPES } from "./samples.ts";

const LOOK = { brand: { name: "Acme Cloud", color: "#0b5cad" }, dashboardUrl: "https://erp.example.com", isTest: false };

/** Everything that a mail program could make a link of. */
const linksIn = (text: string): string[] =>
  text.match(/(?:https?:\/\/|www\.)[^\s"<]+|\b[a-z0-9-]+\.(?:com|net|org|example)\b[^\s"<]*/gi) ?? [];

test("there is a sample of every message", () => {
  const types = Message.options.map(({ shape }) => shape.type.value);
  expect([...MESSAGE_TYPES].toSorted()).toEqual(types.toSorted());
});

test.each(LANGUAGES.flatMap((language) => MESSAGES.map((message) => [language, message.type, message] as const)))(
  "%s: %s has a subject, a text and one link to the dashboard",
  (language, _, message) => {
    const { subject, text, html } = renderMail(Message.parse(message), { ...LOOK, language });
    expect(subject.length).toBeGreaterThan(5);
    expect(`${subject}${text}${html}`).not.toMatch(/undefined|null|\[object|NaN|Invalid/);
    for (const each of [text, html]) {
      const links = linksIn(each);
      expect(links).toHaveLength(1);
      expect(links[0]).toMatch(/^https:\/\/erp\.example\.com\//);
    }
    expect(html).toContain(`<html lang="${language}">`);
    expect(html).not.toMatch(/<(?:img|script|link|table)\b|url\(/);
    expect(text).toContain("Acme Cloud");
  },
);

test("German and English say different things", () => {
  for (const message of MESSAGES) {
    const [en, de] = LANGUAGES.map((language) => renderMail(Message.parse(message), { ...LOOK, language }));
    expect(en?.text).not.toBe(de?.text);
  }
});

const HOSTILE = [
  "Click https://evil.example.com/now",
  "evil.com\r\nBcc: victim@example.com",
  '<a href="https://evil.com">x</a><script>alert(1)</script>',
  "\u202eexe.elif\u202c \u0000\u0007",
  "=?utf-8?q?Bcc:_a@evil.com?=",
  "a".repeat(300),
];

test.each(HOSTILE)("a name cannot inject a header, HTML or a link: %j", async (name) => {
  const message: Message = { type: "invitation", token: "t0ken", account_name: name, invited_by: name };
  const rendered = renderMail(message, { ...LOOK, language: "en" });
  const from = { name, address: "noreply@example.com" };
  const mail = { ...rendered, id: "mail_1", to: "a@example.com", created_at: "2026-11-26T10:00:00.000Z" };
  const parsed = await simpleParser(await compose(mail, from));
  expect([...parsed.headers.keys()].toSorted()).toEqual(
    ["auto-submitted", "content-type", "date", "from", "message-id", "mime-version", "subject", "to"].toSorted(),
  );
  expect(parsed.to).toMatchObject({ value: [{ address: "a@example.com" }] });
  expect(parsed.from).toMatchObject({ value: [{ address: "noreply@example.com" }] });
  expect(parsed.subject).not.toMatch(/[\p{Cc}\u202e]/u);
  expect(linksIn(parsed.text ?? "")).toEqual(["https://erp.example.com/accept-invitation#token=t0ken"]);
  expect(linksIn(String(parsed.html))).toEqual(["https://erp.example.com/accept-invitation#token=t0ken"]);
  expect(parsed.html).not.toMatch(/<script|<a href="https:\/\/evil/);
  expect((parsed.subject ?? "").length).toBeLessThan(300);
});

test("where somebody signed in is said with the browser and its system, however they did", () => {
  const user_agent = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";
  const message: Message = { type: "new_place", at: "2026-11-26T10:00:00.000Z", ip_address: "198.51.100.7", user_agent };
  const [en, de] = LANGUAGES.map((language) => renderMail(message, { ...LOOK, language }).text);
  expect(en).toContain("Browser: Firefox on Linux\n");
  expect(de).toContain("Browser: Firefox auf Linux\n");
  expect(`${en}${de}`).not.toMatch(/with your password|mit Ihrem Passwort/);
});

test.each([
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
    "Safari on iPhone",
  ],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0",
    "Edge on macOS",
  ],
])("also of a browser that names itself late: %s", (user_agent, browser) => {
  const message: Message = { type: "new_place", at: "2026-11-26T10:00:00.000Z", ip_address: "198.51.100.7", user_agent };
  expect(renderMail(message, { ...LOOK, language: "en" }).text).toContain(`Browser: ${browser}\n`);
});

test("an ordinary name is shown as it is", () => {
  expect(["Müller & Söhne GmbH", "Dr. Who", "50 % off", "日本 株式会社"].map(defuse)).toEqual([
    "Müller & Söhne GmbH",
    "Dr. Who",
    "50 % off",
    "日本 株式会社",
  ]);
});

test("the button is readable on every color of a brand", () => {
  expect(["#ffffff", "#ffd400", "#0b5cad", "#000000"].map(readableOn)).toEqual(["#000000", "#000000", "#ffffff", "#ffffff"]);
});

test("the language is the first that there are texts in", () => {
  expect(
    ["de-AT,de;q=0.9,en;q=0.8", "fr,en;q=0.5,de;q=0.7", "fr", undefined, "en;q=0,de;q=0.1", "DE"].map(preferredLanguage),
  ).toEqual(["de", "de", undefined, undefined, "de", "de"]);
});
