// Users, their passwords and their sessions.
import { createHash } from "node:crypto";
import * as z from "zod";
import { ApiError, emailTaken, lastOwner, notCurrentPassword, notFound, wrongPassword } from "../api/errors.ts";
import { type Granted, hasRole, listPermissions, type Role, ROLES, type SignedInWith } from "../api/roles.ts";
import { AccountUser, USER_UNVERSIONED } from "../api/users.ts";
import { HOUR_MS } from "../domain/durations.ts";
import { bytesOfId, timeOfId } from "../domain/ids.ts";
import { unicodeEmail } from "./unicode-names.ts";
import { SESSION_HOURS, SESSIONS_PER_USER } from "../domain/limits.ts";
import { type Change, now, Overtaken } from "../data/change.ts";
import { ROLE_CODES } from "../data/codes.ts";
import { keys, keyString, type Item } from "../data/keys.ts";
import { parseOrSkip } from "../data/parse-each.ts";
import { permissionsIn, toBits } from "../data/permission-bits.ts";
import { everySlotFree } from "./rate-limits.ts";
import type { Language } from "../domain/languages.ts";
import { type Caller, roleIn } from "./schemas/caller.ts";
import { UserAccess, UserRecord } from "./schemas/user.ts";
import { encodeStamp } from "../data/stamps.ts";
import { openEnum } from "../data/stored.ts";
import { find, queryAll, readAll, type Ref, updateOne, updateRaw } from "../data/table.ts";
import { computeVersion, type Version } from "../data/versions.ts";
import { check } from "../data/writes.ts";

export const userAccessRef = (userId: string): Ref<UserAccess> => ({ key: keys.userAccess(userId), schema: UserAccess });

export const userRef = (userId: string): Ref<UserRecord> => ({ key: keys.user(userId), schema: UserRecord });

const Member = z.object({ email: z.string() });

/** Says that a user is in an account. */
export const memberRef = (accountId: string, userId: string): Ref<z.infer<typeof Member>> => ({
  key: keys.userOf(accountId, userId),
  schema: Member,
});

export const findMember = async (accountId: string, id: string): Promise<UserRecord | undefined> =>
  (await find(memberRef(accountId, id))) && find(userRef(id));

/** A user by the id in a path; another account's is not found. */
export const getUser = async (accountId: string, id: string): Promise<UserRecord> =>
  requireUser(await find(memberRef(accountId, id)), id);

/**
 * A user who may be in the account, as was read before: if both were read at once, another account's user would take longer than
 * none.
 */
export async function requireUser(member: z.infer<typeof Member> | undefined, id: string): Promise<UserRecord> {
  const user = member && (await find(userRef(id)));
  if (user === undefined) throw notFound("user");
  return user;
}

/** All users of an account (at most 100, unless the operator allows more), in two calls. */
export async function allUsers(accountId: string): Promise<UserRecord[]> {
  const members = await queryAll(keys.users(accountId), { consistent: true });
  const refs = members.map(({ sk }) => userRef(String(sk)));
  const items = await readAll(refs.map(({ key }) => key));
  return refs.flatMap(({ key }) => {
    const item = items.get(keyString(key));
    return (item && parseOrSkip(UserRecord, item)) ?? [];
  });
}

/** Who has chosen nothing is told what their role has to do with. */
export const readNotifications = ({ notifications, role }: UserRecord): NonNullable<UserRecord["notifications"]> =>
  notifications ?? { email: hasRole(role, "admin") ? "alerts" : "none" };

/** Some of it is for owners, admins and the user alone. */
export function showUser(user: UserRecord, caller: Caller): AccountUser {
  const mayKnow = caller.id === user.id || hasRole(roleIn(caller), "admin");
  const { email_status, last_sign_in_at, passkeys, totp, recovery_codes_left } = user;
  return {
    ...user,
    email_unicode: unicodeEmail(user.email),
    permissions: [...listPermissions(user)],
    notifications: readNotifications(user),
    email_status: mayKnow ? email_status : null,
    last_sign_in_at: mayKnow ? last_sign_in_at : null,
    sso: user.sso !== undefined,
    second_factors: mayKnow ? { passkeys, totp, recovery_codes_left } : null,
  };
}

export const userVersion = (user: UserRecord): Version =>
  computeVersion(userRef(user.id), user, {
    publicSchema: AccountUser,
    unversioned: USER_UNVERSIONED,
    represent: (record) => ({ permissions: listPermissions(record), notifications: readNotifications(record) }),
  });

const AnyRole = openEnum<Role>();

/** What the item that admits a user's requests says of their role. */
export function readGrant(item: Item): Granted {
  const { r: code, m: bits } = UserAccess.parse(item);
  const role = ROLES.find((each) => ROLE_CODES[each] === code) ?? AnyRole.parse(code);
  return { role, permissions: permissionsIn(bits) };
}

/** The same as it is stored. */
const storeGrant = ({ role, permissions }: Granted) =>
  role === "custom" ? { r: ROLE_CODES.custom, m: toBits(permissions) } : { r: ROLE_CODES[role] };

type NewUser = Pick<UserRecord, "id" | "email" | "name" | "password_hash"> &
  Partial<Pick<UserRecord, "role" | "permissions" | "sso">>;

export function reserveUser(change: Change, { role = "owner", permissions = [], ...user }: NewUser): UserRecord {
  const granted = { role, permissions };
  const record: UserRecord = {
    ...user,
    ...granted,
    account_id: change.accountId,
    last_sign_in_at: null,
    created_at: now(),
    email_status: "ok",
    language: "en",
    passkeys: 0,
    totp: false,
    recovery_codes_left: 0,
  };
  change.use("user", 1);
  change.put(keys.email(user.email), { user_id: user.id }, () => emailTaken());
  change.put(keys.user(user.id), record);
  change.put(keys.userAccess(user.id), {
    password: passwordTag(user.password_hash),
    ...storeGrant(granted),
    ...everySlotFree(),
  });
  change.put(keys.userOf(change.accountId, user.id), { email: user.email });
  return record;
}

/** Removes a user: the very next request with one of their sessions finds nothing. */
export function removeUser(change: Change, user: UserRecord): void {
  change.use("user", -1);
  change.remove(keys.user(user.id), { unchanged: { role: user.role } }, (current) =>
    current === undefined ? notFound("user") : userChanged(user.id),
  );
  change.remove(keys.userAccess(user.id));
  change.remove(keys.email(user.email), { equals: { user_id: user.id } });
  change.remove(keys.userOf(user.account_id, user.id));
  if (user.sso !== undefined) change.remove(keys.ssoLink(user.account_id, user.sso.links, user.sso.subject));
}

const userChanged = (id: string): Error => new Overtaken("Another request changed the user at the same time; try again", id);

/** Changes what a request may change of a user: the very next request of each session has the new role. */
export function setUser(
  change: Change,
  user: UserRecord,
  { name, role, permissions, notifications }: Pick<UserRecord, "name" | "role" | "permissions" | "notifications">,
): UserRecord {
  const unchanged = { role: user.role, permissions: user.permissions };
  change.update(userRef(user.id).key, { set: { name, role, permissions, notifications } }, { unchanged }, (current) =>
    current === undefined ? notFound("user") : userChanged(user.id),
  );
  const stored = storeGrant({ role, permissions });
  change.update(keys.userAccess(user.id), { set: stored, ...(stored.m === undefined && { remove: ["m"] }) });
  return { ...user, name, role, permissions, notifications };
}

/** Makes a user a person of the identity provider, with the role that they have by it. */
export function setPerson(
  change: Change,
  user: UserRecord,
  { sso, role, permissions }: Pick<UserRecord, "sso" | "role" | "permissions">,
): UserRecord {
  const unchanged = { role: user.role, permissions: user.permissions };
  change.update(userRef(user.id).key, { set: { sso, role, permissions } }, { unchanged, same: { sso: user.sso } }, () =>
    userChanged(user.id),
  );
  const stored = storeGrant({ role, permissions });
  change.update(keys.userAccess(user.id), { set: stored, ...(stored.m === undefined && { remove: ["m"] }) });
  return { ...user, sso, role, permissions };
}

/** An account always has an owner: writes nothing unless there is another one than the user, who stays one. */
export async function requireOtherOwner(change: Change, user: UserRecord): Promise<void> {
  const other = (await allUsers(user.account_id)).find(({ id, role }) => role === "owner" && id !== user.id);
  if (other === undefined) throw lastOwner();
  change.write(check(userRef(other.id).key, { unchanged: { role: "owner" } }, () => userChanged(other.id)));
}

/** Writes nothing unless a user still has the role that they were read with. */
export const requireUnchangedUser = (change: Change, { id, role, permissions }: UserRecord): void =>
  change.write(check(userRef(id).key, { unchanged: { role, permissions } }, () => userChanged(id)));

interface SignIn {
  /** The language of the user's browser, if it named one; mails are written in it. */
  language: Language | undefined;
  signedInWith: SignedInWith;
  /** Setting up a second factor is all that their sessions can do from now on. */
  mustSetUp: boolean;
}

/**
 * Notes when a user last signed in. Whether they must set up a second factor follows from those that they have: writes nothing if
 * these have changed since, but for single sign-on, which decides nothing by them.
 */
export function recordSignIn(
  change: Change,
  { id, passkeys, totp }: UserRecord,
  { language, signedInWith, mustSetUp }: SignIn,
): void {
  const set = { last_sign_in_at: change.at, language };
  const where = signedInWith === "sso" ? {} : { unchanged: { passkeys, totp } };
  change.update(userRef(id).key, { set }, where, (current) => (current === undefined ? wrongPassword() : userChanged(id)));
  if (mustSetUp) change.update(keys.userAccess(id), { set: { s: true } });
}

const PASSWORD_TAG_BYTES = 4;

/** Tells a password from the one before it, in few bytes: what is compared is a salted hash, not a guess. */
export const passwordTag = (passwordHash: string): Uint8Array =>
  createHash("sha256").update(passwordHash).digest().subarray(0, PASSWORD_TAG_BYTES);

/** A session has a fixed length, and its ID contains the time when it was opened. */
export const endOfSession = (sessionId: string): Date => new Date(timeOfId(sessionId) + SESSION_HOURS * HOUR_MS);

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
 * the user's: a password change also ends sessions that are being opened. Unless `keepsMark`, nothing asks the user to set up a
 * second factor any more.
 */
export async function openSession(
  user: UserRecord,
  sessionId: string,
  most: number = SESSIONS_PER_USER,
  keepsMark = false,
): Promise<boolean> {
  const [key, tag, password] = [keys.userAccess(user.id), sessionTag(sessionId), passwordTag(user.password_hash)];
  let open: Uint8Array[] = []; // what most have is room
  for (let attempt = 0; attempt < SESSION_TRIES; attempt++) {
    const hasRoom = open.length < most;
    const { done, item } = await updateRaw(key, {
      UpdateExpression: `${hasRoom ? "ADD sessions :new" : "SET sessions = :new"}${keepsMark ? "" : " REMOVE s"}`,
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
    if (open.some((each) => Buffer.compare(each, tag) === 0)) return true; // the response to an earlier try was lost
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

/** Notes that a mailbox does not take mail: its user gets none any more that they did not ask for. */
export async function markMailboxBouncing(email: string): Promise<void> {
  const user = await findUserByEmail(email);
  if (user === undefined) return;
  await updateOne(keys.user(user.id), { set: { email_status: "bouncing" } }, { equals: { email: user.email } });
}

/** Notes that a mail has arrived: whoever uses the link in it has read it. */
export async function markMailboxWorking({ id, email, email_status }: UserRecord): Promise<void> {
  if (email_status === "bouncing") await updateOne(keys.user(id), { set: { email_status: "ok" } }, { equals: { email } });
}
