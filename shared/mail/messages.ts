// What is sent by mail: each message with what its text names. Stored until it is sent: a new field needs a default.
import * as z from "zod";
import { type Language, LANGUAGES } from "../domain/languages.ts";

const text = z.string();
/** The fields that say when, from where and with which browser something was done. */
const origin = { at: text, ip_address: text.nullable(), user_agent: text.nullable().default(null) };

/** One of the outcomes of a digest. */
const Outcome = z.object({
  event_type: text,
  at: text,
  resource: z.object({ type: text, name: text }),
  alert: z.object({ kind: text, value: z.number().nullable(), threshold: z.number().nullable() }).nullable(),
  error: text.nullable(),
});
export type DigestOutcome = z.infer<typeof Outcome>;

export const Message = z.discriminatedUnion("type", [
  z.object({ type: z.literal("invitation"), token: text, account_name: text, invited_by: text }),
  z.object({ type: z.literal("password_reset"), token: text }),
  z.object({ type: z.literal("new_place"), ...origin }),
  z.object({ type: z.literal("password_changed"), ...origin }),
  z.object({ type: z.literal("second_factor_added"), factor: text, ...origin }),
  // `user_name`: whose it was, for an owner who has removed it; null for the user.
  z.object({ type: z.literal("second_factor_removed"), factor: text, user_name: text.nullable().default(null), ...origin }),
  z.object({ type: z.literal("webhook_disabled"), webhook_id: text, name: text, reason: text }),
  z.object({ type: z.literal("alerts"), outcomes: z.array(Outcome), more: z.number() }),
  z.object({ type: z.literal("token_expiring"), name: text, expires_at: text.nullable().default(null) }),
]);
export type Message = z.infer<typeof Message>;
export type MessageType = Message["type"];

interface Rules {
  /** The time after which the message is of no use any more. */
  usefulMinutes: number;
  /** Somebody asked for it, so that it also goes to a mailbox that did not take an earlier one. */
  requested?: true;
}

const DAY_MINUTES = 24 * 60;

export const RULES: Readonly<Record<MessageType, Rules>> = {
  invitation: { usefulMinutes: 2 * DAY_MINUTES, requested: true },
  password_reset: { usefulMinutes: 30, requested: true },
  new_place: { usefulMinutes: 2 * DAY_MINUTES },
  password_changed: { usefulMinutes: 2 * DAY_MINUTES },
  second_factor_added: { usefulMinutes: 2 * DAY_MINUTES },
  second_factor_removed: { usefulMinutes: 2 * DAY_MINUTES },
  webhook_disabled: { usefulMinutes: 2 * DAY_MINUTES },
  alerts: { usefulMinutes: DAY_MINUTES },
  token_expiring: { usefulMinutes: 2 * DAY_MINUTES },
};

/** "de" for "de-AT,de;q=0.9"; undefined if there is no text in any of the languages. */
export function preferredLanguage(acceptLanguage: string | undefined): Language | undefined {
  const tags = (acceptLanguage ?? "").split(",", 20).map((each) => {
    const [tag = "", ...parameters] = each.trim().toLowerCase().split(";");
    const quality = parameters.map((parameter) => /^\s*q=([\d.]+)$/.exec(parameter)?.[1]).find((value) => value !== undefined);
    return {
      language: LANGUAGES.find((language) => tag === language || tag.startsWith(`${language}-`)),
      quality: Number(quality ?? 1),
    };
  });
  const usable = tags.filter(({ language, quality }) => language !== undefined && quality > 0);
  return usable.toSorted((a, b) => b.quality - a.quality)[0]?.language;
}
