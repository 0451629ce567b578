// Which requests need a fresh proof of a second factor, and what a user proves it with.
import { reauthenticationRequired, secondFactorRequired } from "../../api/errors.ts";
import type { ErrorDetails } from "../../api/errors.ts";
import type { Method } from "../../api/second-factors.ts";
import { read } from "../../data/table.ts";
import { SECOND_FACTORS } from "../../domain/limits.ts";
import type { Caller } from "../../records/schemas/caller.ts";
import type { UserRecord } from "../../records/schemas/user.ts";
import { hasSecondFactor, listFactors } from "../../records/second-factors.ts";
import { sessionRef } from "../../records/sessions.ts";
import { userRef } from "../../records/users.ts";
import { newChallenge } from "./challenges.ts";
import { requestOptions } from "./passkey-options.ts";
import { MINUTE_MS } from "../../domain/durations.ts";

/**
 * Throws the 403 that asks for one, unless the session's last one is of the last minutes. Only a session can prove something: not
 * an API token, nor what the service does on a user's behalf.
 */
export async function requireProof({ id, session_id }: Caller, origin: () => string): Promise<void> {
  if (session_id === undefined) return;
  const { user, session } = await read({ user: userRef(id), session: sessionRef(id, session_id) });
  if (user === undefined || !hasSecondFactor(user)) return;
  const proven = Date.parse(session?.second_factor_at ?? "");
  if (proven > Date.now() - SECOND_FACTORS.proofMinutes * MINUTE_MS) return;
  const challenge = await newChallenge("reauthenticate", { user, sessionId: session_id });
  throw reauthenticationRequired(await describeChallenge(challenge, user, origin()));
}

/** The 401 that asks whoever knows the password for the second factor. */
export const signInChallenge = async (user: UserRecord, origin: string): Promise<Error> =>
  secondFactorRequired(await describeChallenge(await newChallenge("sign_in", { user }), user, origin));

async function describeChallenge(challenge: string, user: UserRecord, origin: string): Promise<ErrorDetails> {
  const passkeys = (await listFactors(user.id)).filter(({ type }) => type === "passkey");
  const methods: Method[] = [
    ...(passkeys.length > 0 ? (["passkey"] as const) : []),
    ...(user.totp ? (["totp"] as const) : []),
    ...(user.recovery_codes_left > 0 ? (["recovery_code"] as const) : []),
  ];
  return { challenge, methods, passkey_options: passkeys.length > 0 ? requestOptions(challenge, origin, passkeys) : null };
}
