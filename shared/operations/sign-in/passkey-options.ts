// What a browser needs to create a passkey, or to use one: WebAuthn's own JSON. Its relying party is the dashboard's host.
import type { CreationOptions, PasskeyOptions } from "../../api/second-factors.ts";
import { bytesOfId } from "../../domain/ids.ts";
import { SECOND_FACTORS } from "../../domain/limits.ts";
import type { FactorRecord } from "../../records/schemas/second-factor.ts";
import type { UserRecord } from "../../records/schemas/user.ts";
import { MINUTE_MS } from "../../domain/durations.ts";

const timeout = SECOND_FACTORS.challengeMinutes * MINUTE_MS;

export const relyingParty = (origin: string): string => new URL(origin).hostname;

/** What a passkey remembers of its user: their ID's bytes, so that a passkey alone says who signs in. */
export const userHandle = (userId: string): string => bytesOfId(userId).toString("base64url");

/** EdDSA, ES256 and RS256, which every authenticator has one of. */
export const ALGORITHMS = [-8, -7, -257];

const describe = (factors: readonly FactorRecord[]) =>
  factors.flatMap(({ credential_id: id, transports }) =>
    id === undefined ? [] : [{ id, type: "public-key" as const, transports }],
  );

export const creationOptions = (
  challenge: string,
  origin: string,
  { user, factors }: { user: UserRecord; factors: readonly FactorRecord[] },
): CreationOptions => ({
  challenge,
  rp: { id: relyingParty(origin), name: relyingParty(origin) },
  user: { id: userHandle(user.id), name: user.email, displayName: user.name },
  pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: "public-key", alg })),
  excludeCredentials: describe(factors),
  authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "preferred" },
  attestation: "none",
  timeout,
});

/**
 * Returns the options for `factors`, those of a user who is known; without them, for any passkey, which then stands for the
 * password as well.
 */
export const requestOptions = (challenge: string, origin: string, factors?: readonly FactorRecord[]): PasskeyOptions => ({
  challenge,
  rpId: relyingParty(origin),
  allowCredentials: describe(factors ?? []),
  timeout,
  userVerification: factors === undefined ? "required" : "preferred",
});
