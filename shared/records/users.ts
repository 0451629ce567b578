// Users, their passwords and their sessions.
import { createHash } from "node:crypto";
import * as z from "zod";
import { ApiError, conflict, emailTaken, notCurrentPassword, notFound } from "../api/errors.ts";
import { bytesOfId, timeOfId } from "../domain/ids.ts";
import { SESSION_HOURS, SESSIONS_PER_USER } from "../domain/limits.ts";
import { type Change, now } from "../data/change.ts";
import { keys, type Item } from "../data/keys.ts";
import { everySlotFree } from "./rate-limits.ts";
import { UserAccess, UserRecord } from "./schemas/user.ts";
import { encodeStamp } from "../data/stamps.ts";
import { find, type Ref, updateRaw } from "../data/table.ts";

export const userAccessRef = (userId: string): Ref<UserAccess> => ({ key: keys.userAccess(userId), schema: UserAccess });

export const userRef = (userId: string): Ref<UserRecord> => ({ key: keys.user(userId), schema: UserRecord });

export function reserveUser(change: Change, user: Pick<UserRecord, "id" | "email" | "name" | "password_hash">): UserRecord {
  const record: UserRecord = { ...user, account_id: change.accountId, created_at: now() };
  change.use("user", 1);
  change.put(keys.email(user.email), { user_id: user.id }, () => emailTaken());
  change.put(keys.user(user.id), record);
  change.put(keys.userAccess(user.id), { password: passwordTag(user.password_hash), ...everySlotFree() });
  change.put(keys.userOf(change.accountId, user.id), { email: user.email });
  return record;
}

/** Removes a user: the very next request with one of their sessions finds nothing. */
export function removeUser(change: Change, user: UserRecord): void {
  change.use("user", -1);
  change.requireMore("user", 1, () =>
    conflict("This is the account's last user, so nobody could sign in; create another user first", { resource: "user" }),
  );
  change.remove(keys.user(user.id), {}, () => notFound("user"));
  change.remove(keys.userAccess(user.id));
  change.remove(keys.email(user.email), { equals: { user_id: user.id } });
  change.remove(keys.userOf(user.account_id, user.id));
}

const PASSWORD_TAG_BYTES = 4;

/** Tells a password from the one before it, in few bytes: what is compared is a salted hash, not a guess. */
const passwordTag = (passwordHash: string): Uint8Array =>
  createHash("sha256").update(passwordHash).digest().subarray(0, PASSWORD_TAG_BYTES);

/** A session has a fixed length, and its ID contains the time when it was opened. */
export const endOfSession = (sessionId: string): Date => new Date(timeOfId(sessionId) + SESSION_HOURS * 3_600_000);

const SESSION_RANDOM_BYTES = 3;

/**
 * What the table keeps of a session: when it was opened, which sorts sessions by age, and three random bytes of its ID. The bytes
 * only tell apart a user's sessions of the same millisecond: nobody can present a guessed ID, because the JWT that carries it is
 * signed.
 */
export function sessionTag(sessionId: string): Uint8Array {
  return Buffer.concat([encodeStamp(timeOfId(sessionId)), bytesOfId(sessionId).subarray(-SESSION_RANDOM_BYTES)]);
}

/** The oldest first. */
export const openSessions = (item: Item): Uint8Array[] =>
  [...(UserAccess.parse(item).sessions ?? [])].toSorted((a, b) => Buffer.compare(a, b));

/**
 * Each failed try means that another request opened or ended a session of the user, so that some request always makes progress.
 */
const SESSION_TRIES = 100;

/**
 * Opens a session, and ends the oldest if there would be more than `most`. Returns false if the verified password is no longer
 * the user's: a password change also ends sessions that are being opened.
 */
export async function openSession(user: UserRecord, sessionId: string, most: number = SESSIONS_PER_USER): Promise<boolean> {
  const [key, tag, password] = [keys.userAccess(user.id), sessionTag(sessionId), passwordTag(user.password_hash)];
  let open: Uint8Array[] = []; // what most have is room
  for (let attempt = 0; attempt < SESSION_TRIES; attempt++) {
    const hasRoom = open.length < most;
    const { done, item } = await updateRaw(key, {
      UpdateExpression: hasRoom ? "ADD sessions :new" : "SET sessions = :new",
      ConditionExpression: `#password = :password AND ${
        hasRoom ? "(attribute_not_exists(sessions) OR size(sessions) < :most)" : "sessions = :open"
      }`,
      ExpressionAttributeNames: { "#password": "password" },
      ExpressionAttributeValues: {
        ":password": password,
        ...(hasRoom
          ? { ":new": new Set([tag]), ":most": most }
          : { ":new": new Set([...open.slice(open.length + 1 - most), tag]), ":open": new Set(open) }),
      },
    });
    if (done) return true;
    if (item === undefined) return false; // the user was removed
    if (Buffer.compare(UserAccess.parse(item).password, password) !== 0) return false;
    open = openSessions(item);
  }
  throw new Error(`Could not open a session for ${user.id} in ${SESSION_TRIES} tries`);
}

export async function endSession(userId: string, sessionId: string): Promise<void> {
  await updateRaw(keys.userAccess(userId), {
    UpdateExpression: "DELETE sessions :ended",
    ConditionExpression: "attribute_exists(pk)",
    ExpressionAttributeValues: { ":ended": new Set([sessionTag(sessionId)]) },
  });
}

/**
 * Sets a password and ends every session, including those opened in the meantime, except the one that set it, if given. That
 * session must still be open: one that has ended since its request was admitted stays ended.
 */
export function setPassword(change: Change, user: UserRecord, passwordHash: string, keepSessionId?: string): void {
  const keep = keepSessionId === undefined ? undefined : sessionTag(keepSessionId);
  const password = passwordTag(passwordHash);
  change.update(
    keys.user(user.id),
    { set: { password_hash: passwordHash } },
    { equals: { password_hash: user.password_hash } },
    () => notCurrentPassword(), // another request was faster
  );
  change.update(
    keys.userAccess(user.id),
    keep === undefined ? { set: { password }, remove: ["sessions"] } : { set: { password, sessions: new Set([keep]) } },
    keep === undefined ? {} : { contains: { sessions: keep } },
    () => new ApiError("UNAUTHORIZED"), // the session, or the user, has gone in the meantime
  );
}

const EmailRecord = z.object({ user_id: z.string() });

/** An id that no user has. */
const NOBODY = "usr_none";

/** Email addresses are case-insensitive. */
export async function findUserByEmail(email: string): Promise<UserRecord | undefined> {
  const owner = await find({ key: keys.email(email), schema: EmailRecord });
  const user = await find(userRef(owner?.user_id ?? NOBODY)); // also for an unknown address, so that both take the same time
  return owner === undefined ? undefined : user;
}
