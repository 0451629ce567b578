// How many mails somebody can have sent to others: whoever is over it has to wait, or is sent nothing.
import { tooManyInvitations } from "../api/errors.ts";
import { keys } from "../data/keys.ts";
import { takeSlot } from "../data/slots.ts";
import { INVITATION, PASSWORD_RESET } from "../domain/limits.ts";

/** Throws RATE_LIMIT_EXCEEDED once an account has invited too often. */
export async function admitInvitation(accountId: string): Promise<void> {
  const windowMs = INVITATION.windowSeconds * 1000;
  const retryAfterMs = await takeSlot(keys.mailLimit("invitation", accountId), {
    slots: INVITATION.perDay,
    windowMs,
    at: Date.now(),
  });
  if (retryAfterMs !== undefined) throw tooManyInvitations(Math.ceil(retryAfterMs / 1000));
}

/** Whether an address gets another mail to reset its password. */
export async function admitReset(email: string): Promise<boolean> {
  const windowMs = PASSWORD_RESET.windowSeconds * 1000;
  const key = keys.mailLimit("password_reset", email.toLowerCase());
  return (await takeSlot(key, { slots: PASSWORD_RESET.perHour, windowMs, at: Date.now() })) === undefined;
}
