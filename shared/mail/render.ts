// A mail as it is sent: one layout for all messages, as text and as HTML, without images, scripts or anything that is loaded.
import { type Language, LOCALES } from "../domain/languages.ts";
import type { Message } from "./messages.ts";
import type { Content } from "./content.ts";
import { WORDS } from "./words.ts";

/** What the operator's brand gives a mail. */
export interface MailBrand {
  name: string;
  color: string | null;
}

interface Look {
  language: Language;
  brand: MailBrand;
  /** The configured address of the dashboard, with which the one link begins. */
  dashboardUrl: string;
  /** A test environment says so in the subject. */
  isTest: boolean;
}

export interface Rendered {
  subject: string;
  text: string;
  html: string;
}

export function renderMail(message: Message, { language, brand, dashboardUrl, isTest }: Look): Rendered {
  const content = write(defuseAll(message), { language, product: defuse(brand.name) });
  const url = new URL(content.link.path, dashboardUrl).href;
  const subject = `${isTest ? "[test] " : ""}${content.subject}`;
  return { subject, text: toText(content, url, brand), html: toHtml(content, { url, brand, language }) };
}

function write(message: Message, { language, product }: { language: Language; product: string }): Content {
  const formatter = new Intl.DateTimeFormat(LOCALES[language], {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: "UTC",
  });
  const context = { product, time: (at: string) => `${formatter.format(new Date(at))} UTC` };
  const { [language]: words } = WORDS;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each message goes to the words of its own type
  return (words[message.type] as (each: Message, context: object) => Content)(message, context);
}

const NAME_CHARACTERS = 120;
/** As many characters as are stored of a user agent: the browser is named at its end. */
const USER_AGENT_CHARACTERS = 256;
/** Invisible, and no place to break a line; mail programs make no link of what has one before or after a separator. */
const JOINER = "\u2060";

/**
 * What people have named themselves: one line, without characters that turn the text around, and nothing that a mail program
 * would make a link of.
 */
export const defuse = (name: string): string => defuseUpTo(NAME_CHARACTERS, name);

function defuseUpTo(most: number, name: string): string {
  const line = name
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  const characters = Array.from(line);
  const short = characters.length > most ? `${characters.slice(0, most).join("")}…` : line;
  return short.replaceAll(/(?<=\S)[.:@/\\](?=\S)/g, (separator) => `${separator}${JOINER}`);
}

/** Values that our own code makes: the service's times and IDs, and tokens, which only go into the link. */
const OWN = new Set(["type", "token", "at", "ip_address", "expires_at", "webhook_id", "reason", "event_type", "kind"]);

function defuseAll(message: Message): Message {
  const walk = (value: unknown, key = ""): unknown => {
    if (key === "user_agent" && typeof value === "string") return defuseUpTo(USER_AGENT_CHARACTERS, value);
    if (typeof value === "string") return OWN.has(key) ? value : defuse(value);
    if (Array.isArray(value)) return value.map((each) => walk(each, key));
    if (typeof value === "object" && value !== null)
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, walk(each, name)]));
    return value;
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only texts change, to texts
  return walk(message) as Message;
}

function toText({ title, lines, facts = [], link, note }: Content, url: string, brand: MailBrand): string {
  const parts = [
    title,
    ...lines,
    ...(facts.length === 0 ? [] : [facts.map(([name, value]) => `${name}: ${value}`).join("\n")]),
    `${link.label}:\n${url}`,
    note,
    `-- \n${defuse(brand.name)}`,
  ];
  return `${parts.join("\n\n")}\n`;
}

const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);

const DEFAULT_COLOR = "#0b5cad";

/** Black or white, whichever is easier to read on a color (WCAG's relative luminance). */
export function readableOn(color: string): "#000000" | "#ffffff" {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return 1.05 / (luminance + 0.05) >= (luminance + 0.05) / 0.05 ? "#ffffff" : "#000000";
}

/** Colors are inline for mail programs that drop style sheets; the style sheet has those of a dark screen. */
function toHtml(
  { title, lines, facts = [], link, note }: Content,
  { url, brand, language }: { url: string; brand: MailBrand; language: Language },
): string {
  const color = brand.color ?? DEFAULT_COLOR;
  const paragraph = (text: string): string => `<p style="margin:0 0 16px">${escape(text)}</p>`;
  const rows = facts.map(
    ([name, value]) =>
      `<dt class="soft" style="margin:0;font-size:14px;color:#4a4f57">${escape(name)}</dt><dd style="margin:0 0 8px">${escape(value)}</dd>`,
  );
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escape(title)}</title>
<style>
:root { color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  .page { background: #16191d !important; color: #e8eaed !important; }
  .card { background: #22262b !important; border-color: #3a3f46 !important; }
  .soft { color: #b6bcc4 !important; }
}
@media (max-width: 480px) { .card { padding: 20px !important; } }
</style>
</head>
<body class="page" style="margin:0;padding:16px;background:#f3f4f6;color:#1b1f24;font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif">
<main style="max-width:560px;margin:0 auto;overflow-wrap:anywhere">
<p class="soft" style="margin:8px 0 16px;font-weight:600;color:#4a4f57">${escape(defuse(brand.name))}</p>
<div class="card" style="padding:28px;background:#ffffff;border:1px solid #d9dce1;border-top:4px solid ${color};border-radius:8px">
<h1 style="margin:0 0 16px;font-size:20px;line-height:1.3">${escape(title)}</h1>
${lines.map(paragraph).join("\n")}
${rows.length === 0 ? "" : `<dl style="margin:0 0 16px">${rows.join("")}</dl>`}
<p style="margin:24px 0"><a href="${escape(url)}" style="display:inline-block;padding:12px 20px;border-radius:6px;background:${color};color:${readableOn(color)};font-weight:600;text-decoration:none">${escape(link.label)}</a></p>
<p class="soft" style="margin:0;font-size:14px;color:#4a4f57">${escape(note)}</p>
</div>
</main>
</body>
</html>
`;
}
