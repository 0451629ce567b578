// What follows when somebody has proven who they are: a session, its event, and a mail if they have not been seen there before.
import type { login } from "../api/auth.ts";
import type { DataIn } from "../api/endpoint.ts";
import type { SignedInWith } from "../api/roles.ts";
import { wrongPassword } from "../api/errors.ts";
import type { Method } from "../api/second-factors.ts";
import { retryOnConflict, startChange } from "../data/change.ts";
import { find } from "../data/table.ts";
import { preferredLanguage } from "../mail/messages.ts";
import { newId } from "../domain/ids.ts";
import { needsSecondFactor } from "../operations/sign-in/required-factors.ts";
import { requireAllowedAddress, requireSignInMethodAllowed } from "../operations/sign-in/sign-in-rules.ts";
import { log } from "../platform/log.ts";
import { publish } from "../platform/publish-metric.ts";
import { getAccount } from "../records/accounts.ts";
import { logEvent, logOutcome } from "../records/events.ts";
import { requestMail } from "../records/mails.ts";
import type { UserRecord } from "../records/schemas/user.ts";
import { hasSecondFactor } from "../records/second-factors.ts";
import { isKnownNetwork, recordNetwork, recordSession } from "../records/sessions.ts";
import { endOfSession, recordSignIn, openSession, userRef } from "../records/users.ts";
import { signSession } from "./jwt.ts";

interface From {
  ipAddress: string | null;
  userAgent: string | null;
  acceptLanguage: string | undefined;
  requestId: string;
}

type SignedIn = DataIn<ReturnType<typeof login>>;

/**
 * Signs a user in. For all methods but single sign-on, it throws `Overtaken` if the user has other second factors by now, so that
 * a password alone does not sign in whoever has one, and nobody goes free who must set one up.
 */
export async function signIn(user: UserRecord, from: From, signedInWith: SignedInWith = "password"): Promise<SignedIn> {
  const breaksGlass = await requireSignInMethodAllowed(user, signedInWith);
  const signedIn = await openAndRecordSession(user, from, signedInWith);
  if (breaksGlass) {
    log.warn("single sign-on was bypassed", { account: user.account_id, user: user.id });
    publish("SsoBypassed", 1);
  }
  return signedIn;
}

/** Signs in whoever has proven a second factor, also if theirs change at the same moment: the proof is used up by then. */
export function signInProven(proven: UserRecord, from: From, method: Method): Promise<SignedIn> {
  return retryOnConflict(async () => {
    const user = await find(userRef(proven.id));
    if (user === undefined) throw wrongPassword();
    // A password that has been changed since the proof ends this sign-in, as it ends sessions.
    return signIn({ ...user, password_hash: proven.password_hash }, from, method);
  });
}

async function openAndRecordSession(
  user: UserRecord,
  { ipAddress, userAgent, acceptLanguage, requestId }: From,
  signedInWith: SignedInWith,
): Promise<SignedIn> {
  const sessionId = newId("session");
  const expires = endOfSession(sessionId);
  const [account, isKnown] = await Promise.all([getAccount(user.account_id), isKnownNetwork(user, ipAddress)]);
  requireAllowedAddress(account, ipAddress);
  // The change starts at once: the event's time goes with its number, which comes from the account as it was read.
  const change = startChange(account);
  // Single sign-on counts as a second factor, for its own sessions: those that must set one up still must.
  const isSso = signedInWith === "sso";
  const mustSetUp = !isSso && needsSecondFactor(account, user) && !hasSecondFactor(user);
  if (!(await openSession(user, sessionId, account.limit_session, mustSetUp || isSso))) throw wrongPassword();
  const caller = {
    account_id: user.account_id,
    type: "user" as const,
    id: user.id,
    name: user.name,
    permissions: [],
    role: user.role,
    ip_address: ipAddress,
    signed_in_with: signedInWith,
  };
  const resource = { type: "user", id: user.id, name: user.name } as const;
  logEvent(change, { caller, requestId }, "auth.login", resource);
  recordSession(change, user, {
    id: sessionId,
    ip_address: ipAddress,
    user_agent: userAgent,
    second_factor_at: signedInWith === "password" ? null : change.at,
  });
  recordSignIn(change, user, { language: preferredLanguage(acceptLanguage), signedInWith, mustSetUp });
  recordNetwork(change, user, ipAddress);
  if (!isKnown) {
    logOutcome(change, { caller, requestId }, { type: "sign_in.new_place" }, resource);
    await requestMail(change, {
      to: { user_id: user.id },
      message: { type: "new_place", at: change.at, ip_address: ipAddress, user_agent: userAgent },
    });
  }
  await change.commit();
  const session = { userId: user.id, accountId: user.account_id, sessionId, signedInWith };
  return { token: await signSession(session, expires), expires_at: expires.toISOString(), user };
}
