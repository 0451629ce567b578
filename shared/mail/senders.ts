// How a mail leaves: by SES on AWS, and on one machine by SMTP, or into files.
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SendEmailCommand, SESv2Client } from "@aws-sdk/client-sesv2";
import { createTransport } from "nodemailer";
import MailComposer from "nodemailer/lib/mail-composer";
import * as z from "zod";
import { MAIL_CALLS } from "../platform/aws-calls.ts";
import type { MailBrand, Rendered } from "./render.ts";
import { withTimeout } from "../platform/with-timeout.ts";

interface OutgoingMail extends Rendered {
  id: string;
  to: string;
  created_at: string;
}

/** What the sending function knows of the operator's choices; none of it is secret but the password in SMTP_URL. */
const Variables = z.object({
  /** The sender's address. */
  MAIL_SENDER: z.string().optional(),
  MAIL_BRAND: z.string().default("{}"),
  /** SES: the configuration set, by which bounces are reported. */
  MAIL_CONFIGURATION_SET: z.string().optional(),
  SMTP_URL: z.string().optional(),
  MAIL_DIRECTORY: z.string().optional(),
});

const Brand = z.object({ name: z.string().default("ERP Control Plane"), color: z.string().nullable().default(null) });

export const readBrand = (variables: NodeJS.ProcessEnv = process.env): MailBrand =>
  Brand.parse(JSON.parse(Variables.parse(variables).MAIL_BRAND));

/** The mailbox does not exist, or takes nothing from us: no further try helps. */
export class MailboxRefused extends Error {
  override name = "MailboxRefused";
}

type Sender = (mail: OutgoingMail) => Promise<void>;

/** Undefined if the operator has chosen no way to send. */
export function chooseSender(variables: NodeJS.ProcessEnv = process.env): Sender | undefined {
  const { MAIL_SENDER: sender, MAIL_CONFIGURATION_SET: set, SMTP_URL: url, MAIL_DIRECTORY: folder } = Variables.parse(variables);
  const { name } = readBrand(variables);
  if (url !== undefined && sender !== undefined) return (mail) => sendBySmtp(url, mail, { name, address: sender });
  if (folder !== undefined) return (mail) => writeToFiles(folder, mail, { name, address: sender ?? "noreply@localhost" });
  if (set !== undefined && sender !== undefined) return (mail) => sendBySes(set, mail, { name, address: sender });
  return undefined;
}

interface From {
  name: string;
  address: string;
}

/** The same bytes whichever way it leaves. The ID is the same in every try, so that mailboxes can tell a repetition. */
export const compose = ({ id, to, subject, text, html, created_at }: OutgoingMail, from: From): Promise<Buffer> =>
  new MailComposer({
    from,
    to: { name: "", address: to },
    subject,
    text,
    html,
    date: new Date(created_at),
    messageId: `<${id}@${from.address.slice(from.address.lastIndexOf("@") + 1)}>`,
    // No vacation notices in return (RFC 3834).
    headers: { "Auto-Submitted": "auto-generated" },
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build();

let client: SESv2Client | undefined;

async function sendBySes(configurationSet: string, mail: OutgoingMail, from: From): Promise<void> {
  client ??= new SESv2Client(MAIL_CALLS);
  await client.send(
    new SendEmailCommand({
      FromEmailAddress: from.address,
      Destination: { ToAddresses: [mail.to] },
      Content: { Raw: { Data: await compose(mail, from) } },
      ConfigurationSetName: configurationSet,
    }),
  );
}

/** Each step of a connection, and all of them together: less than the function's run. */
const SMTP_MS = { connect: 10_000, greet: 10_000, pause: 15_000, all: 40_000 };

/** Statuses that say that there is no such mailbox (RFC 3463), and not that the relay does not want to send for us. */
const NO_MAILBOX = /\b5\.(?:1\.[1236]|1\.10|2\.1)\b/;
const Refusal = z.object({ responseCode: z.number(), response: z.string(), command: z.literal("RCPT TO") });

export async function sendBySmtp(url: string, mail: OutgoingMail, from: From): Promise<void> {
  const { protocol, hostname } = new URL(url);
  const transport = createTransport({
    url,
    // A relay elsewhere gets the password and the links only encrypted.
    requireTLS: protocol !== "smtps:" && !isThisMachine(hostname),
    connectionTimeout: SMTP_MS.connect,
    greetingTimeout: SMTP_MS.greet,
    socketTimeout: SMTP_MS.pause,
  });
  try {
    const raw = await compose(mail, from);
    const sending = transport.sendMail({ envelope: { from: from.address, to: mail.to }, raw });
    await withTimeout(sending, SMTP_MS.all, new Error("The mail server took too long"));
  } catch (error) {
    const refusal = Refusal.safeParse(error).data;
    if (refusal !== undefined && NO_MAILBOX.test(refusal.response))
      throw new MailboxRefused(`The mail server has no such mailbox: ${refusal.responseCode}`, { cause: error });
    throw error;
  } finally {
    transport.close();
  }
}

const isThisMachine = (hostname: string): boolean => /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);

/** The file of a mail as the page of the local run reads it. */
export const MailFile = z.object({
  id: z.string(),
  to: z.string(),
  subject: z.string(),
  text: z.string(),
  html: z.string(),
  created_at: z.string(),
});
export type MailFile = z.infer<typeof MailFile>;

const FILES_KEPT = 1_000;

/** One file for mail programs, and one for the page `/mail`. Names sort by time. */
async function writeToFiles(folder: string, mail: OutgoingMail, from: From): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const write = (extension: string, content: string | Buffer): void => {
    const path = join(folder, `${mail.id}.${extension}`);
    writeFileSync(`${path}.part`, content, { mode: 0o600 });
    renameSync(`${path}.part`, path);
  };
  write("eml", await compose(mail, from));
  const { id, to, subject, text, html, created_at } = mail;
  write("json", JSON.stringify({ id, to, subject, text, html, created_at } satisfies MailFile));
  const names = readdirSync(folder).toSorted();
  for (const name of names.slice(0, Math.max(0, names.length - 2 * FILES_KEPT))) rmSync(join(folder, name), { force: true });
}
