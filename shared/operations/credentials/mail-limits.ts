// How many mails somebody can have sent to others: whoever is over it has to wait, or is sent nothing.
import { tooManyInvitations } from "../../api/errors.ts";
import { keys } from "../../data/keys.ts";
import { tryAcquireSlot } from "../../data/slots.ts";
import { INVITATION, PASSWORD_RESET } from "../../domain/limits.ts";

/** Throws RATE_LIMIT_EXCEEDED once an account has invited too often. */
export async function limitInvitations(accountId: string): Promise<void> {
  const windowMs = INVITATION.windowSeconds * 1000;
  const retryAfterMs = await tryAcquireSlot(keys.mailLimit("invitation", accountId), {
    slots: INVITATION.perDay,
    windowMs,
    at: Date.now(),
  });
  if (retryAfterMs !== undefined) throw tooManyInvitations(Math.ceil(retryAfterMs / 1000));
}

/** Whether an address gets another mail to reset its password. */
export async function limitResets(email: string): Promise<boolean> {
  const windowMs = PASSWORD_RESET.windowSeconds * 1000;
  const key = keys.mailLimit("password_reset", email.toLowerCase());
  return (await tryAcquireSlot(key, { slots: PASSWORD_RESET.perHour, windowMs, at: Date.now() })) === undefined;
}
