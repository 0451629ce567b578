// Sends a mail of the queue: one try, after which it has ended or waits for the next.
import { find } from "../data/table.ts";
import { env, variable } from "../platform/env.ts";
import { log } from "../platform/log.ts";
import type { Language } from "../domain/languages.ts";
import { Message, RULES } from "../mail/messages.ts";
import { renderMail } from "../mail/render.ts";
import { chooseSender, MailboxRefused, readBrand } from "../mail/senders.ts";
import { endMail, claimMail, type ClaimedMail } from "../records/mails.ts";
import type { MailRecord } from "../records/schemas/mail.ts";
import { markMailboxBouncing, userRef } from "../records/users.ts";
import { reportUnsent } from "../operations/events/mail-queue.ts";

/** Makes the try that is due by a key of the queue. */
export async function sendMail(queueKey: string): Promise<void> {
  const claimed = await claimMail(queueKey);
  if (claimed === undefined) return;
  const { mail, isLast, isOver } = claimed;
  const fields = { account: mail.account_id, mail: mail.id, type: mail.message.type };
  if (mail.ended !== null) return endMail(claimed, mail.ended);
  if (isOver) return giveUp(claimed);
  const message = Message.safeParse(claimed.message).data;
  // A newer version has requested it, and serves again soon.
  if (message === undefined) return log.warn("left a mail to the newer version that requested it", fields);
  const recipient = await findRecipient(mail, message);
  const send = chooseSender();
  if (recipient === undefined || send === undefined) {
    log.info(send === undefined ? "no sender of mail is configured" : "nobody is to get a mail any more", fields);
    return endMail(claimed, "dropped");
  }
  const rendered = renderMail(message, {
    language: recipient.language,
    brand: readBrand(),
    dashboardUrl: variable("DASHBOARD_URL"),
    isTest: env().ENVIRONMENT === "test",
  });
  try {
    await send({ ...rendered, id: mail.id, to: recipient.email, created_at: mail.created_at });
  } catch (error) {
    log.warn("a mail could not be sent", { ...fields, attempt: mail.attempts + 1, error });
    if (error instanceof MailboxRefused) {
      await markMailboxBouncing(recipient.email);
      return endMail(claimed, "unsent");
    }
    return isLast ? giveUp(claimed) : undefined;
  }
  log.info("sent a mail", fields);
  return endMail(claimed, "sent");
}

async function giveUp(claimed: ClaimedMail): Promise<void> {
  const { account_id, id, message } = claimed.mail;
  log.error("gave up a mail", { account: account_id, mail: id, type: message.type });
  // First the report: a mail that ends unreported would be missed by nobody but its reader.
  await reportUnsent({ account_id, mail_id: id, type: message.type });
  return endMail(claimed, "unsent");
}

interface Recipient {
  email: string;
  language: Language;
}

/** Undefined if the user is gone, or their mailbox takes nothing and they did not ask for the mail. */
async function findRecipient({ account_id, to, language }: MailRecord, { type }: Message): Promise<Recipient | undefined> {
  if (to.email !== undefined) return { email: to.email, language: language ?? "en" };
  const user = to.user_id === undefined ? undefined : await find(userRef(to.user_id));
  if (user?.account_id !== account_id) return undefined;
  if (user.email_status === "bouncing" && RULES[type].requested !== true) return undefined;
  return { email: user.email, language: language ?? user.language };
}
