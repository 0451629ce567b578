// A user's second factors. How many there are is on the user's own record, which is written with them: it is what decides whether
// a password alone signs in.
import { randomBytes } from "node:crypto";
import * as z from "zod";
import { factorExists, notFound, proofInvalid, tooManyPasskeys } from "../api/errors.ts";
import { type Change, Overtaken } from "../data/change.ts";
import { keys } from "../data/keys.ts";
import { parseEach } from "../data/parse-each.ts";
import { find, queryAll, type Ref } from "../data/table.ts";
import { newId } from "../domain/ids.ts";
import { SECOND_FACTORS } from "../domain/limits.ts";
import { hashRecoveryCode, newRecoveryCode } from "../domain/recovery-codes.ts";
import { seal, unseal } from "../platform/sealing.ts";
import { matchingStep, toBase32 } from "../platform/totp.ts";
import { text } from "./schemas/fields.ts";
import { FactorRecord } from "./schemas/second-factor.ts";
import type { UserRecord } from "./schemas/user.ts";
import { userRef } from "./users.ts";
import { MINUTE_MS } from "../domain/durations.ts";

export const hasSecondFactor = ({ passkeys, totp }: Pick<UserRecord, "passkeys" | "totp">): boolean => passkeys > 0 || totp;

const factorRef = (userId: string, id: string): Ref<FactorRecord> => ({ key: keys.factor(userId, id), schema: FactorRecord });

export const listFactors = async (userId: string): Promise<FactorRecord[]> =>
  parseEach(FactorRecord, await queryAll(keys.factors(userId), { beginsWith: keys.factorsOf(), consistent: true }));

export async function getFactor(userId: string, id: string): Promise<FactorRecord> {
  const factor = await find(factorRef(userId, id));
  if (factor === undefined) throw notFound("second factor");
  return factor;
}

const APP = "Authenticator app";
const SECRET_BYTES = 20;

const secretContext = (factorId: string): string => `second factor ${factorId}`;

const SetUp = z.object({ factor_id: text, secret: text, expires_at: text });

/** Begins the set-up of an authenticator app, in place of one that was begun before. The secret is only here, and in the app. */
export async function beginTotp(change: Change, user: UserRecord): Promise<string> {
  if (user.totp) throw factorExists();
  const secret = randomBytes(SECRET_BYTES);
  const factor_id = newId("second_factor");
  const expires = Date.parse(change.at) + SECOND_FACTORS.setUpMinutes * MINUTE_MS;
  const set = {
    factor_id,
    secret: await seal(secret.toString("base64"), secretContext(factor_id)),
    expires_at: new Date(expires).toISOString(),
    ttl: Math.ceil(expires / 1000),
  };
  change.update(keys.totpSetUp(user.id), { set }, { exists: false });
  return toBase32(secret);
}

/** Adds the app that shows this code. The code counts as used. */
export async function confirmTotp(change: Change, user: UserRecord, code: string): Promise<FactorRecord> {
  const setUp = await find({ key: keys.totpSetUp(user.id), schema: SetUp });
  if (setUp === undefined || Date.parse(setUp.expires_at) <= Date.now()) throw proofInvalid();
  const { factor_id: id, secret } = setUp;
  const last_step = matchingStep(await openSecret(id, secret), code, Date.now());
  if (last_step === undefined) throw proofInvalid();
  const factor: FactorRecord = FactorRecord.parse({ id, type: "totp", name: APP, created_at: change.at, secret, last_step });
  change.remove(keys.totpSetUp(user.id), { equals: { factor_id: id } }, proofInvalid);
  change.update(userRef(user.id).key, { set: { totp: true } }, { none: ["totp"] }, factorExists);
  addFactor(change, user, factor);
  return factor;
}

const openSecret = async (factorId: string, secret: string): Promise<Buffer> =>
  Buffer.from(await unseal(secret, secretContext(factorId)), "base64");

type NewPasskey = Pick<FactorRecord, "name" | "credential_id" | "public_key" | "counter" | "transports">;

export function addPasskey(change: Change, user: UserRecord, passkey: NewPasskey): FactorRecord {
  const factor = FactorRecord.parse({ ...passkey, id: newId("second_factor"), type: "passkey", created_at: change.at });
  const below = { passkeys: SECOND_FACTORS.passkeys };
  change.update(userRef(user.id).key, { add: { passkeys: 1 } }, { below }, tooManyPasskeys);
  addFactor(change, user, factor);
  return factor;
}

function addFactor(change: Change, user: UserRecord, factor: FactorRecord): void {
  change.put(keys.factor(user.id, factor.id), factor);
  // They have one now, so that their sessions may do everything.
  change.update(keys.userAccess(user.id), { remove: ["s"] });
}

interface Removal {
  /** Whether a user without a second factor may only set one up. */
  mustHaveOne: boolean;
}

/** Removes one factor. Without any there is nothing that the recovery codes could replace, so that they go with the last. */
export function removeFactor(change: Change, user: UserRecord, factor: FactorRecord, { mustHaveOne }: Removal): void {
  const { passkeys, totp } = user;
  const remaining = factor.type === "totp" ? { passkeys, totp: false } : { passkeys: Math.max(0, passkeys - 1), totp };
  change.remove(keys.factor(user.id, factor.id), {}, () => notFound("second factor"));
  leave(change, user, remaining, mustHaveOne);
}

/** Removes them all, with the recovery codes. */
export async function removeFactors(change: Change, user: UserRecord, { mustHaveOne }: Removal): Promise<FactorRecord[]> {
  const factors = await listFactors(user.id);
  for (const { id } of factors) change.remove(keys.factor(user.id, id), {}, () => changedMeanwhile(user));
  leave(change, user, { passkeys: 0, totp: false }, mustHaveOne);
  return factors;
}

function leave(change: Change, user: UserRecord, remaining: Pick<UserRecord, "passkeys" | "totp">, mustHaveOne: boolean): void {
  const { passkeys, totp } = user;
  const isLast = !hasSecondFactor(remaining);
  const set = { ...remaining, ...(isLast && { recovery_codes_left: 0 }) };
  change.update(userRef(user.id).key, { set }, { unchanged: { passkeys, totp } }, () => changedMeanwhile(user));
  if (!isLast) return;
  change.remove(keys.recoveryCodes(user.id));
  if (mustHaveOne) change.update(keys.userAccess(user.id), { set: { s: true } });
}

const changedMeanwhile = ({ id }: UserRecord): Error =>
  new Overtaken("Another request changed the second factors at the same time; try again", id);

/** Deletes what a removed user had, in the change that removes them. */
export async function removeFactorsOfUser(change: Change, { id }: UserRecord): Promise<void> {
  const factors = await listFactors(id);
  for (const factor of factors) change.remove(keys.factor(id, factor.id));
  change.remove(keys.recoveryCodes(id));
  change.remove(keys.totpSetUp(id));
}

const Codes = z.object({ hashes: z.set(text).default(new Set()) });

/** Makes new recovery codes, with which those from before stop working. They are only here, and with the user. */
export function renewRecoveryCodes(change: Change, user: UserRecord): string[] {
  const codes = Array.from({ length: SECOND_FACTORS.recoveryCodes }, newRecoveryCode);
  const hashes = new Set(codes.map((code) => hashRecoveryCode(user.id, code)));
  change.update(keys.recoveryCodes(user.id), { set: { hashes } }, { exists: false });
  const { passkeys, totp } = user;
  // If the last factor were removed meanwhile, these codes would unlock nothing.
  change.update(userRef(user.id).key, { set: { recovery_codes_left: codes.length } }, { unchanged: { passkeys, totp } }, () =>
    changedMeanwhile(user),
  );
  return codes;
}

/** Uses a recovery code up. */
export async function useRecoveryCode(change: Change, user: UserRecord, code: string): Promise<void> {
  const hash = hashRecoveryCode(user.id, code);
  const { hashes } = (await find({ key: keys.recoveryCodes(user.id), schema: Codes })) ?? { hashes: new Set() };
  if (!hashes.has(hash)) throw proofInvalid();
  const key = keys.recoveryCodes(user.id);
  change.update(key, { take: { hashes: new Set([hash]) } }, { contains: { hashes: hash } }, proofInvalid);
  change.update(userRef(user.id).key, { add: { recovery_codes_left: -1 } });
}

/** Uses the code of an app: its step, and all before it, count no more. */
export async function useTotpCode(change: Change, user: UserRecord, code: string): Promise<void> {
  const factor = (await listFactors(user.id)).find(({ type }) => type === "totp");
  if (factor?.secret === undefined) throw proofInvalid();
  const secret = await openSecret(factor.id, factor.secret);
  const step = matchingStep(secret, code, Date.now());
  if (step === undefined || step <= factor.last_step) throw proofInvalid();
  // Sealed anew, so that it outlives the replacement of the key that it was sealed with.
  const sealed = await seal(secret.toString("base64"), secretContext(factor.id));
  const set = { last_step: step, last_used_at: change.at, secret: sealed };
  change.update(keys.factor(user.id, factor.id), { set }, { below: { last_step: step } }, proofInvalid);
}

/** Notes the use of a passkey, whose counter has moved on. */
export function usePasskey(change: Change, user: UserRecord, factor: FactorRecord, counter: number): void {
  const set = { counter, last_used_at: change.at };
  change.update(keys.factor(user.id, factor.id), { set }, { unchanged: { counter: factor.counter } }, proofInvalid);
}
