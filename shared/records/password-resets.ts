// Links to set a new password, for those who have forgotten theirs. A user has one at most: the newest.
import { createHash } from "node:crypto";
import * as z from "zod";
import { linkInvalid } from "../api/errors.ts";
import type { Change } from "../data/change.ts";
import { keys } from "../data/keys.ts";
import { find } from "../data/table.ts";
import { idFrom, newId } from "../domain/ids.ts";
import { PASSWORD_RESET } from "../domain/limits.ts";
import { hashLink, idsInLink, matchesLink, newLinkToken } from "../domain/link-token.ts";
import { keyedHash } from "../platform/sealing.ts";
import { text } from "./schemas/fields.ts";
import type { UserRecord } from "./schemas/user.ts";
import { userRef } from "./users.ts";
import { MINUTE_MS } from "../domain/durations.ts";

type ResetUser = Pick<UserRecord, "id" | "account_id">;

/**
 * IDs that nobody has, in the place of an unknown email's user: a reset for them writes the same, and no mail is sent. Two
 * requests that write the same item at once take longer, so the user's ID is the same for the same email, as a known one's is,
 * and another one for every other. It comes from a keyed hash, so that nobody who reads the table finds the emails that were
 * tried.
 */
export async function unknownUser(email: string): Promise<ResetUser> {
  const hash = createHash("sha256").update(await keyedHash(`nobody ${email.toLowerCase()}`));
  return { id: idFrom("user", 0, hash.digest()), account_id: newId("account") };
}

const Reset = z.object({ link_hash: text, expires_at: text });

/** The token of the link is only here, and in the mail. */
export function reserveReset(change: Change, { id }: ResetUser): string {
  const token = newLinkToken(id);
  const expires = Date.parse(change.at) + PASSWORD_RESET.minutes * MINUTE_MS;
  const set = { link_hash: hashLink(token), expires_at: new Date(expires).toISOString(), ttl: Math.ceil(expires / 1000) };
  change.update(keys.passwordReset(id), { set }, { exists: false });
  return token;
}

/** The user of a link; throws 401 if it is not the newest, was used, or has expired. */
export async function userOfReset(token: string): Promise<UserRecord> {
  const [id] = idsInLink(token, "user") ?? [];
  const reset = id === undefined ? undefined : await find({ key: keys.passwordReset(id), schema: Reset });
  if (
    id === undefined ||
    reset === undefined ||
    Date.parse(reset.expires_at) <= Date.now() ||
    !matchesLink(reset.link_hash, token)
  )
    throw linkInvalid();
  const user = await find(userRef(id));
  if (user === undefined) throw linkInvalid();
  return user;
}

/** Removes the user's reset link, if any: after a new password, it is of use to an attacker only. */
export const cancelReset = (change: Change, { id }: ResetUser): void => change.remove(keys.passwordReset(id), { exists: false });

/** Uses the link up. */
export const endReset = (change: Change, { id }: UserRecord, token: string): void =>
  change.remove(keys.passwordReset(id), { equals: { link_hash: hashLink(token) } }, linkInvalid);
