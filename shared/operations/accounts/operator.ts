// What the person who runs the service does from the command line: accounts, users, quotas, forgotten passwords.
import { randomUUID } from "node:crypto";
import * as z from "zod";
import { ApiError, emailTaken, notFound } from "../../api/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { QuotaKind } from "../../domain/limits.ts";
import { hashPassword } from "../../platform/passwords.ts";
import { accountRef, getAccount, newAccount, setSettings } from "../../records/accounts.ts";
import { changesBetween } from "../../records/audit-changes.ts";
import { type Change, retryOnConflict, startChange, now } from "../../data/change.ts";
import { logEvent } from "../../records/events.ts";
import {
  allUsers,
  findUserByEmail,
  requireOtherOwner,
  markMailboxWorking,
  removeUser,
  reserveUser,
  setPassword,
  setUser,
} from "../../records/users.ts";
import { removeInvitationsOf } from "../../records/invitations.ts";
import { requestMail } from "../../records/mails.ts";
import { cancelReset } from "../../records/password-resets.ts";
import { removeFactorsOfUser, removeFactors } from "../../records/second-factors.ts";
import { keys } from "../../data/keys.ts";
import type { AccountRecord } from "../../records/schemas/account.ts";
import type { TokenRecord } from "../../records/schemas/token.ts";
import type { UserRecord } from "../../records/schemas/user.ts";
import { find, putIfAbsent, queryAll, removeOne } from "../../data/table.ts";
import { reportFactorChange } from "../sign-in/factor-changes.ts";
import { needsSecondFactor } from "../sign-in/required-factors.ts";
import { removeUnsendable } from "../sign-in/sent-invitations.ts";
import { isUsable, tokensBy } from "../credentials/tokens-of-users.ts";

const operator = () => ({ operator: "operator", requestId: `admin-${randomUUID()}` });

export interface NewUser {
  email: string;
  name: string;
  password: string;
  role?: UserRecord["role"];
  permissions?: UserRecord["permissions"];
}

/** Makes an account with its first user. */
export async function createAccount(name: string, user: NewUser): Promise<{ account: AccountRecord; user: UserRecord }> {
  if ((await findUserByEmail(user.email)) !== undefined) throw emailTaken();
  const account = newAccount(newId("account"), name);
  await putIfAbsent(keys.account(account.id), account);
  await putIfAbsent(keys.accountListed(account.id), { created_at: account.created_at });
  const created = (change: Change): unknown =>
    logEvent(change, operator(), "account.create", { type: "account", id: account.id, name });
  const added = await addUser(account.id, user, created).catch(async (error: unknown) => {
    // Another command was faster with this email: nobody could use this account.
    if (error instanceof ApiError && error.code === "CONFLICT") {
      await removeOne(keys.accountListed(account.id));
      await removeOne(keys.account(account.id));
    }
    throw error;
  });
  return { account, user: added };
}

export const createUser = (accountId: string, user: NewUser): Promise<UserRecord> => addUser(accountId, user, () => undefined);

/** Gives a user a role; an account keeps its last owner. */
export async function setUserRole(email: string, granted: Pick<UserRecord, "role" | "permissions">): Promise<UserRecord> {
  const by = operator();
  const updated = await retryOnConflict(async () => {
    const user = await namedUser(email);
    await removeUnsendable(user, by);
    const change = startChange(await getAccount(user.account_id));
    if (user.role === "owner" && granted.role !== "owner") await requireOtherOwner(change, user);
    const updated = setUser(change, user, { ...granted, name: user.name });
    const changes = changesBetween(user, updated, ["role", "permissions"]);
    logEvent(change, by, { type: "user.role_changed", changes }, { type: "user", id: user.id, name: user.name });
    await change.commit();
    return updated;
  });
  await removeUnsendable(updated, by);
  return updated;
}

async function namedUser(email: string): Promise<UserRecord> {
  const user = await findUserByEmail(email);
  if (user === undefined) throw notFound("user");
  return user;
}

/** `also` adds to the same change. */
async function addUser(
  accountId: string,
  { password, ...profile }: NewUser,
  also: (change: Change) => void,
): Promise<UserRecord> {
  const change = startChange(await namedAccount(accountId));
  also(change);
  const user = reserveUser(change, { id: newId("user"), ...profile, password_hash: await hashPassword(password) });
  logEvent(change, operator(), "user.create", { type: "user", id: user.id, name: user.name });
  await change.commit();
  return user;
}

/** Sets a user's password, and ends all of their sessions and a link that is on its way. */
export async function resetPassword(email: string, password: string): Promise<UserRecord> {
  const user = await namedUser(email);
  const change = startChange(await getAccount(user.account_id));
  setPassword(change, user, await hashPassword(password));
  cancelReset(change, user);
  await requestMail(change, {
    to: { user_id: user.id },
    message: { type: "password_changed", at: change.at, ip_address: null, user_agent: null },
  });
  logEvent(change, operator(), "auth.password", { type: "user", id: user.id, name: user.name });
  await change.commit();
  return user;
}

/**
 * Removes a user of an account, with all of their sessions; an account keeps its last owner. API tokens are the account's own:
 * those that the user created keep working, and are returned.
 */
export const deleteUser = (email: string): Promise<TokenRecord[]> =>
  retryOnConflict(async () => {
    const user = await namedUser(email);
    const change = startChange(await getAccount(user.account_id));
    if (user.role === "owner") await requireOtherOwner(change, user);
    removeUser(change, user);
    await removeFactorsOfUser(change, user);
    await removeInvitationsOf(change, user);
    logEvent(change, operator(), "user.delete", { type: "user", id: user.id, name: user.name });
    await change.commit();
    return (await tokensBy(user)).filter(isUsable);
  });

/** Removes a user's second factors, such as an account's last owner's, whom nobody else can help. Returns how many there were. */
export const deleteSecondFactors = (email: string): Promise<number> =>
  retryOnConflict(async () => {
    const user = await namedUser(email);
    const account = await getAccount(user.account_id);
    const change = startChange(account);
    const factors = await removeFactors(change, user, { mustHaveOne: needsSecondFactor(account, user) });
    await reportFactorChange(change, operator(), { user, type: "removed", factors, userAgent: null });
    await change.commit();
    return factors.length;
  });

/** Records that a user's mailbox accepts mail again, for users who cannot show it by using a link that was mailed. */
export async function clearBouncingMailbox(email: string): Promise<void> {
  await markMailboxWorking(await namedUser(email));
}

/** The account's new quota; what it has beyond that stays. */
export async function setQuota(accountId: string, kind: QuotaKind | "session" | "repositories", limit: number): Promise<void> {
  const account = await namedAccount(accountId);
  const change = startChange(account);
  change.setOnAccount({ [`limit_${kind}`]: limit, updated_at: now() });
  const field = `limit_${kind}` as const;
  const changes = changesBetween(account, { [field]: limit }, [field]);
  logEvent(
    change,
    operator(),
    { type: "account.quota", changes },
    { type: "account", id: account.id, name: account.account_name },
  );
  await change.commit();
}

/** Lets an account's people sign in from everywhere again: from the networks that an owner has set, none of them may any more. */
export async function allowSignInFromEverywhere(accountId: string): Promise<void> {
  const account = await namedAccount(accountId);
  const change = startChange(account);
  const changes = changesBetween(account, setSettings(change, account, { allowed_ips: [] }), ["allowed_ips"]);
  const about = { type: "account", id: account.id, name: account.account_name } as const;
  logEvent(change, operator(), { type: "settings.update", changes }, about);
  await change.commit();
}

/** An account by the id that the operator typed. */
export async function namedAccount(id: string): Promise<AccountRecord> {
  const account = await find(accountRef(id));
  if (account === undefined) throw notFound("account");
  return account;
}

const AccountListed = z.object({ sk: z.string() });

export const accountIds = async (): Promise<string[]> =>
  (await queryAll(keys.accounts())).map((item) => AccountListed.parse(item).sk);

export const allAccounts = async (): Promise<AccountRecord[]> => Promise.all((await accountIds()).map((id) => getAccount(id)));

export const listEmails = async (accountId: string): Promise<string[]> => (await allUsers(accountId)).map(({ email }) => email);
