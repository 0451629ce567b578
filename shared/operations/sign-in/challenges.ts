// Challenges: what a proof of a second factor must be made for. A challenge is sealed, so that nothing is stored until somebody
// tries to meet it; the same text is what a passkey signs. It is for one purpose and, except where a passkey alone signs in, for
// one user with the password that they had.
import { randomBytes } from "node:crypto";
import * as z from "zod";
import { proofInvalid } from "../../api/errors.ts";
import type { Change } from "../../data/change.ts";
import { keys } from "../../data/keys.ts";
import { find, updateRaw } from "../../data/table.ts";
import { isCanonical } from "../../domain/base64url.ts";
import { SECOND_FACTORS } from "../../domain/limits.ts";
import { seal, unsealPresented } from "../../platform/sealing.ts";
import type { UserRecord } from "../../records/schemas/user.ts";
import { passwordTag, userRef } from "../../records/users.ts";
import { HOUR_SECONDS, MINUTE_MS } from "../../domain/durations.ts";
import { ttlAfter } from "../../data/ttl.ts";

export type Purpose = "sign_in" | "passkey_sign_in" | "add_passkey" | "reauthenticate";

const Claims = z.object({
  id: z.string(),
  expires: z.number(),
  user: z.string().optional(),
  password: z.string().optional(),
  session: z.string().optional(),
});
export type Challenge = z.infer<typeof Claims> & { text: string };

/** Whom a challenge is for, and which session if they have one. */
interface For {
  user: UserRecord;
  sessionId?: string;
}

const LIFETIME_MS = SECOND_FACTORS.challengeMinutes * MINUTE_MS;
const context = (purpose: Purpose): string => `challenge ${purpose}`;
const tagOf = ({ password_hash }: UserRecord): string => Buffer.from(passwordTag(password_hash)).toString("hex");

export async function newChallenge(purpose: Purpose, whom?: For): Promise<string> {
  const claims: z.infer<typeof Claims> = {
    id: randomBytes(16).toString("base64url"),
    expires: Date.now() + LIFETIME_MS,
    ...(whom !== undefined && { user: whom.user.id, password: tagOf(whom.user) }),
    ...(whom?.sessionId !== undefined && { session: whom.sessionId }),
  };
  const sealed = await seal(JSON.stringify(claims), context(purpose));
  return Buffer.from(sealed).toString("base64url"); // as WebAuthn writes its bytes
}

/** What a challenge says; undefined unless it is one of ours, for this purpose, and its time is not over. */
export async function openChallenge(purpose: Purpose, text: string): Promise<Challenge | undefined> {
  if (!isCanonical(text)) return undefined;
  const opened = await unsealPresented(Buffer.from(text, "base64url").toString(), context(purpose));
  if (opened === undefined) return undefined;
  const claims = Claims.parse(JSON.parse(opened));
  return claims.expires > Date.now() ? { ...claims, text } : undefined;
}

/** The user that a challenge is for; undefined if they were removed, or have another password by now. */
export async function userOfChallenge({ user: id, password }: Challenge): Promise<UserRecord | undefined> {
  const user = id === undefined ? undefined : await find(userRef(id));
  return user !== undefined && tagOf(user) === password ? user : undefined;
}

/** It is remembered for as long as it could be presented. */
const ttl = ({ expires }: Challenge): number => ttlAfter(HOUR_SECONDS, expires);

/** Takes one of a challenge's tries, before the proof is checked, so that tries at once do not exceed them. */
export async function countTry(challenge: Challenge): Promise<void> {
  const { done } = await updateRaw(keys.challenge(challenge.id), {
    UpdateExpression: "SET #ttl = :ttl ADD tries :one",
    ConditionExpression: "attribute_not_exists(met) AND (attribute_not_exists(tries) OR tries < :most)",
    ExpressionAttributeNames: { "#ttl": "ttl" },
    ExpressionAttributeValues: { ":ttl": ttl(challenge), ":one": 1, ":most": SECOND_FACTORS.tries },
  });
  if (!done) throw proofInvalid();
}

/** Ends a challenge: it works once. */
export const consumeChallenge = (change: Change, challenge: Challenge): void =>
  change.update(
    keys.challenge(challenge.id),
    { set: { met: true, ttl: ttl(challenge) } },
    { exists: false, none: ["met"] },
    proofInvalid,
  );
