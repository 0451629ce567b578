// Checks proofs of second factors, and uses up what was proven with: a challenge works once, and so do a code of an app, the
// codes before it, and a recovery code.
import { proofInvalid } from "../../api/errors.ts";
import type { Assertion, Proof } from "../../api/second-factors.ts";
import { type Change, startChange } from "../../data/change.ts";
import { find } from "../../data/table.ts";
import { idOfBytes } from "../../domain/ids.ts";
import { getAccount } from "../../records/accounts.ts";
import { logOutcome } from "../../records/events.ts";
import type { Caller } from "../../records/schemas/caller.ts";
import type { UserRecord } from "../../records/schemas/user.ts";
import { listFactors, usePasskey, useRecoveryCode, useTotpCode } from "../../records/second-factors.ts";
import { userRef } from "../../records/users.ts";
import { type Challenge, consumeChallenge, openChallenge, countTry, userOfChallenge } from "./challenges.ts";
import { beginProofAttempt, withoutCounting } from "../credentials/login-limits.ts";
import { userHandle } from "./passkey-options.ts";
import { challengeIn, verifyAssertion } from "./passkeys.ts";
import { requireAllowedAddress, requireSignInMethodAllowed } from "./sign-in-rules.ts";

interface From {
  ipAddress: string | null;
  requestId: string;
  origin: string;
  /** The user of the session. */
  userId?: string;
}

/**
 * Checks a proof that was made for a challenge, of its user. `also` is written along with it. Throws 401 for a wrong one, 429
 * after too many.
 */
export async function checkProof(
  purpose: "sign_in" | "reauthenticate",
  { challenge: text, method, code = "", assertion }: Proof,
  from: From,
  also: (change: Change, user: UserRecord, challenge: Challenge) => void = () => undefined,
): Promise<UserRecord> {
  const challenge = await openChallenge(purpose, text);
  const attempt = await beginProofAttempt(challenge?.user ?? from.userId, from.ipAddress ?? "unknown");
  if (challenge === undefined) throw proofInvalid();
  await countTry(challenge);
  const user = await userOfChallenge(challenge);
  if (user === undefined) throw proofInvalid();
  const account = await getAccount(user.account_id);
  const change = startChange(account);
  if (method === "passkey") await provePasskey(change, user, { assertion, challenge, from, alone: false });
  else if (method === "totp") await useTotpCode(change, user, code);
  else await useRecoveryCode(change, user, code);
  // A sign-in that the account's rules reject uses up no code, and the proof was no guess.
  if (purpose === "sign_in")
    await withoutCounting(attempt, async () => {
      await requireSignInMethodAllowed(user, method);
      requireAllowedAddress(account, from.ipAddress);
    });
  also(change, user, challenge);
  consumeChallenge(change, challenge);
  await change.commit();
  await attempt.succeeded();
  return user;
}

/** The user whom a passkey alone signs in: it names them, and has verified that it is them. */
export async function checkPasskeyAlone(assertion: Assertion, from: From): Promise<UserRecord> {
  const challenge = await openChallenge("passkey_sign_in", challengeIn(assertion) ?? "");
  const owner = await ownerOf(assertion);
  const attempt = await beginProofAttempt(owner?.id, from.ipAddress ?? "unknown");
  if (challenge === undefined || owner === undefined) throw proofInvalid();
  await countTry(challenge);
  const change = startChange(await getAccount(owner.account_id));
  await provePasskey(change, owner, { assertion, challenge, from, alone: true });
  consumeChallenge(change, challenge);
  await change.commit();
  await attempt.succeeded();
  return owner;
}

/** Whoever has the passkey. Who only guesses a user's ID cannot fail in their name: a passkey's ID is as good as secret. */
async function ownerOf({ id: credentialId, response }: Assertion): Promise<UserRecord | undefined> {
  const bytes = Buffer.from(response.userHandle ?? "", "base64url");
  if (bytes.length !== USER_HANDLE_BYTES) return undefined;
  const id = idOfBytes("user", bytes);
  if (!(await listFactors(id)).some(({ credential_id }) => credential_id === credentialId)) return undefined;
  return find(userRef(id));
}

const USER_HANDLE_BYTES = 16;

interface PasskeyProof {
  assertion: Assertion | undefined;
  challenge: Challenge;
  from: From;
  alone: boolean;
}

async function provePasskey(
  change: Change,
  user: UserRecord,
  { assertion, challenge, from, alone }: PasskeyProof,
): Promise<void> {
  const factor = (await listFactors(user.id)).find(({ credential_id }) => credential_id === assertion?.id);
  if (assertion === undefined || factor === undefined) throw proofInvalid();
  const { userHandle: presentedHandle } = assertion.response;
  if (typeof presentedHandle === "string" && presentedHandle !== userHandle(user.id)) throw proofInvalid();
  const counter = await verifyAssertion(assertion, factor, { challenge: challenge.text, origin: from.origin, alone });
  // Some passkeys do not count, and stay at zero.
  if ((counter > 0 || factor.counter > 0) && counter <= factor.counter) {
    await logSuspiciousPasskey(user, from);
    throw proofInvalid();
  }
  usePasskey(change, user, factor, counter);
}

/** A counter that goes back: somebody else may have a copy of the passkey. */
async function logSuspiciousPasskey(user: UserRecord, { ipAddress, requestId }: From): Promise<void> {
  const change = startChange(await getAccount(user.account_id));
  const { account_id, id, name, role } = user;
  const caller: Caller = { account_id, type: "user", id, name, permissions: [], role, ip_address: ipAddress };
  logOutcome(change, { caller, requestId }, { type: "second_factor.suspicious" }, { type: "user", id, name });
  await change.commit();
}
