// What follows when somebody has proven who they are: a session, its event, and a mail if they have not been seen there before.
import type { login } from "../api/auth.ts";
import type { DataIn } from "../api/endpoint.ts";
import type { SignedInWith } from "../api/roles.ts";
import { wrongPassword } from "../api/errors.ts";
import { startChange } from "../data/change.ts";
import { preferredLanguage } from "../mail/messages.ts";
import { newId } from "../domain/ids.ts";
import { mustHaveFactor } from "../operations/required-factors.ts";
import { requireAllowedAddress, requireWayAllowed } from "../operations/sign-in-rules.ts";
import { log } from "../platform/log.ts";
import { publish } from "../platform/metrics.ts";
import { getAccount } from "../records/accounts.ts";
import { logEvent, logOutcome } from "../records/events.ts";
import { requestMail } from "../records/mails.ts";
import type { UserRecord } from "../records/schemas/user.ts";
import { hasSecondFactor } from "../records/second-factors.ts";
import { isKnownPlace, notePlace, recordSession } from "../records/sessions.ts";
import { endOfSession, noteSignIn, openSession } from "../records/users.ts";
import { signSession } from "./jwt.ts";

interface From {
  ipAddress: string | null;
  userAgent: string | null;
  acceptLanguage: string | undefined;
  requestId: string;
}

type SignedIn = DataIn<ReturnType<typeof login>>;

/** With a password alone: throws `Overtaken` if the user has a second factor by now. */
export async function signIn(user: UserRecord, from: From, how: SignedInWith = "password"): Promise<SignedIn> {
  const breaksGlass = await requireWayAllowed(user, how);
  const signedIn = await openAndNote(user, from, how);
  if (breaksGlass) {
    log.warn("single sign-on was bypassed", { account: user.account_id, user: user.id });
    publish("SsoBypassed", 1);
  }
  return signedIn;
}

async function openAndNote(
  user: UserRecord,
  { ipAddress, userAgent, acceptLanguage, requestId }: From,
  signedInWith: SignedInWith,
): Promise<SignedIn> {
  const sessionId = newId("session");
  const expires = endOfSession(sessionId);
  const [account, isKnown] = await Promise.all([getAccount(user.account_id), isKnownPlace(user, ipAddress)]);
  requireAllowedAddress(account, ipAddress);
  // At once: the event's time goes with its number, which comes from the account as it was read.
  const change = startChange(account);
  // Single sign-on counts as a second factor, for its own sessions: those that must set one up still must.
  const isSso = signedInWith === "sso";
  const mustSetUp = !isSso && mustHaveFactor(account, user) && !hasSecondFactor(user);
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
  noteSignIn(change, user, { language: preferredLanguage(acceptLanguage), how: signedInWith, mustSetUp });
  notePlace(change, user, ipAddress);
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
