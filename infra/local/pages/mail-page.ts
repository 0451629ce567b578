// The page `/mail` of the test environment on one machine: what would have been sent, the newest first. Never in live, because
// it shows links that reset passwords.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MailFile } from "../../../shared/mail/senders.ts";

/** No script, nothing that is loaded, and mails in frames that can do nothing. */
export const MAIL_CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; base-uri 'none'; form-action 'none'";

const SHOWN_MAX = 50;

/** IDs begin with the time. */
function newestMails(folder: string): MailFile[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return names
    .toSorted()
    .toReversed()
    .slice(0, SHOWN_MAX)
    .map((name) => MailFile.parse(JSON.parse(readFileSync(join(folder, name), "utf8"))));
}

export const mailPage = (folder: string): string => {
  const mails = newestMails(folder);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Mail</title>
<style>
:root { color-scheme: light dark; }
body { max-width: 45rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
article { margin: 1.5rem 0; padding: 1rem; border: 1px solid; border-radius: 0.5rem; }
h2 { margin: 0; font-size: 1.1rem; }
pre { white-space: pre-wrap; }
iframe { width: 100%; height: 30rem; border: 0; }
</style>
</head>
<body>
<main>
<h1>Mail</h1>
<p>Mails that the service would send, the newest first. With <code>SMTP_URL</code> it sends them instead.</p>
${mails.length === 0 ? "<p>There are none yet.</p>" : mails.map(renderMail).join("\n")}
</main>
</body>
</html>
`;
};

const renderMail = ({ to, subject, text, html, created_at }: MailFile): string => `<article>
<h2>${escape(subject)}</h2>
<p>To ${escape(to)}, ${escape(created_at)}</p>
<pre>${linked(text)}</pre>
<details><summary>As HTML</summary><iframe title="${escape(subject)}" sandbox srcdoc="${escape(html)}"></iframe></details>
</article>`;

/** The one link of a mail has a line of its own. */
const linked = (text: string): string => escape(text).replaceAll(/^https?:\/\/\S+$/gm, (url) => `<a href="${url}">${url}</a>`);

const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
