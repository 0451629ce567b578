// A mail as it is stored, until 30 days after it was requested.
import * as z from "zod";
import type { Language } from "../../domain/languages.ts";
import { openEnum } from "../../data/stored.ts";
import { count, counter, maybeText, noText, text } from "./fields.ts";

/** How a mail ended: `sent`; `unsent` after the last try, or too late; `dropped` if nobody is to get it any more. */
export type MailEnd = "sent" | "unsent" | "dropped";

export const MailRecord = z.object({
  id: text,
  account_id: text,
  /** A user, whose address is looked up when it is sent, or the address of somebody who is none yet. */
  to: z.object({ user_id: maybeText, email: maybeText }),
  /** The mail's language; without one, that of the user. */
  language: openEnum<Language>().optional(),
  /** The message without its token. */
  message: z.looseObject({ type: text }),
  /** The token of its link, encrypted, until it is sent. */
  sealed_token: maybeText,
  /** Null until it has ended. */
  ended: openEnum<MailEnd>().nullable().default(null),
  ended_at: noText,
  attempts: counter,
  created_at: text,
  ttl: count,
});
export type MailRecord = z.infer<typeof MailRecord>;
