// Checks what a browser says a passkey has made: for this challenge, at the dashboard's own origin, with the passkey's own key.
import { verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server";
import * as z from "zod";
import { proofInvalid } from "../../api/errors.ts";
import type { Assertion, Attestation } from "../../api/second-factors.ts";
import { isCanonical } from "../../domain/base64url.ts";
import type { FactorRecord } from "../../records/schemas/second-factor.ts";
import { ALGORITHMS, relyingParty } from "./passkey-options.ts";

const ClientData = z.looseObject({ challenge: z.string(), crossOrigin: z.boolean().optional() });

/** The challenge that something was made for; undefined if it is unreadable, or was made inside another site. */
export function challengeIn({ response }: Attestation | Assertion): string | undefined {
  try {
    const { challenge, crossOrigin } = ClientData.parse(JSON.parse(Buffer.from(response.clientDataJSON, "base64url").toString()));
    return crossOrigin === true ? undefined : challenge;
  } catch {
    return undefined; // a value that a client invented
  }
}

/** Whether each of these texts stands for its bytes in the one way in which a browser writes them. */
const areCanonical = (...texts: (string | null | undefined)[]): boolean =>
  texts.every((text) => text === undefined || text === null || isCanonical(text));

interface Expected {
  challenge: string;
  origin: string;
}

/** The new passkey; throws 401 for one that was not created as asked. */
export async function verifyAttestation(
  attestation: Attestation,
  { challenge, origin }: Expected,
): Promise<Required<Pick<FactorRecord, "credential_id" | "public_key" | "counter" | "transports">>> {
  const { clientDataJSON, attestationObject } = attestation.response;
  if (challengeIn(attestation) !== challenge || !areCanonical(clientDataJSON, attestationObject)) throw proofInvalid();
  const { registrationInfo } = await orInvalid(() =>
    verifyRegistrationResponse({
      response: RegistrationResponse.parse(attestation),
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: relyingParty(origin),
      supportedAlgorithmIDs: ALGORITHMS,
      requireUserVerification: false,
    }),
  );
  if (registrationInfo === undefined) throw proofInvalid();
  const { id, publicKey, counter } = registrationInfo.credential;
  return { credential_id: id, public_key: publicKey, counter, transports: attestation.response.transports ?? [] };
}

/** The passkey's counter after its use; throws 401 unless it was used as asked. Whether it went back is for the caller. */
export async function verifyAssertion(
  assertion: Assertion,
  { credential_id, public_key }: FactorRecord,
  { challenge, origin, alone }: Expected & { alone: boolean },
): Promise<number> {
  const { clientDataJSON, authenticatorData, signature, userHandle } = assertion.response;
  if (credential_id === undefined || public_key === undefined || challengeIn(assertion) !== challenge) throw proofInvalid();
  if (!areCanonical(clientDataJSON, authenticatorData, signature, userHandle)) throw proofInvalid();
  const { verified, authenticationInfo } = await orInvalid(() =>
    verifyAuthenticationResponse({
      response: AuthenticationResponse.parse(assertion),
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: relyingParty(origin),
      credential: { id: credential_id, publicKey: Uint8Array.from(public_key), counter: 0 },
      requireUserVerification: alone,
    }),
  );
  if (!verified) throw proofInvalid();
  return authenticationInfo.newCounter;
}

type RegistrationResponse = Parameters<typeof verifyRegistrationResponse>[0]["response"];
type AuthenticationResponse = Parameters<typeof verifyAuthenticationResponse>[0]["response"];
/** What the library checks itself. */
const RegistrationResponse = z.custom<RegistrationResponse>();
const AuthenticationResponse = z.custom<AuthenticationResponse>();

/** The library throws for everything that is wrong with what a client sends. */
async function orInvalid<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch {
    throw proofInvalid();
  }
}
