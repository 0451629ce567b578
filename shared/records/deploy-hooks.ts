// The deploy hooks of instances: who calls one tells of a push. Only the hash of its secret is stored, and what comes of the call
// is decided later: whoever floods it causes one write.
import { createHash, randomBytes } from "node:crypto";
import * as z from "zod";
import { tooManyPushes } from "../api/errors.ts";
import { type Change, now, Overtaken } from "../data/change.ts";
import { keys } from "../data/keys.ts";
import { parseEach } from "../data/parse-each.ts";
import { tryAcquireSlot } from "../data/slots.ts";
import { find, queryAll, updateOne } from "../data/table.ts";
import { PUSH, WINDOW_SECONDS } from "../domain/limits.ts";
import { requireInstanceKept } from "./code.ts";
import { noText, text } from "./schemas/fields.ts";
import type { CodeRecord } from "./schemas/code.ts";
import type { InstanceRecord } from "./schemas/instance.ts";

/** More than anyone can guess: 160 random bits, and a few more to fill the last character. */
const SECRET_BYTES = 21;
const SECRET = /^[A-Za-z0-9_-]{28}$/;

const hashSecret = (secret: string): string => createHash("sha256").update(secret).digest("base64url");

const Owner = z.object({ account_id: text, instance_id: text });

/** A hook that was called. */
type Hook = z.infer<typeof Owner> & { hash: string };

/** Replaces an instance's hook, or removes it; the secret of the new one. */
export function setHook(change: Change, instance: InstanceRecord, code: CodeRecord, enabled: boolean): string | null {
  const secret = enabled ? randomBytes(SECRET_BYTES).toString("base64url") : null;
  const { account_id, id: instance_id } = instance;
  requireInstanceKept(change, instance);
  const hook_hash = secret === null ? null : hashSecret(secret);
  if (code.hook_hash !== null) change.remove(keys.deployHook(code.hook_hash), { exists: false });
  if (hook_hash !== null) change.put(keys.deployHook(hook_hash), { account_id, instance_id });
  change.update(
    keys.code(account_id, instance_id),
    { set: { account_id, instance_id, hook_hash, hook_last4: secret?.slice(-4) ?? null, hook_used_at: null } },
    { exists: false, unchanged: { hook_hash: code.hook_hash } },
    () => new Overtaken("Another request changed the hook at the same time; try again if you need to", instance_id),
  );
  return secret;
}

/** Whose hook a secret is; undefined if it is nobody's. */
export async function findHook(secret: string): Promise<Hook | undefined> {
  if (!SECRET.test(secret)) return undefined;
  const hash = hashSecret(secret);
  const owner = await find({ key: keys.deployHook(hash), schema: Owner });
  return owner && { ...owner, hash };
}

/** Throws RATE_LIMIT_EXCEEDED once an instance's hook is called too often. */
export async function limitPushes(instanceId: string): Promise<void> {
  const limit = { slots: PUSH.perMinute, windowMs: WINDOW_SECONDS * 1000, at: Date.now() };
  const retryAfterMs = await tryAcquireSlot(keys.pushLimit(instanceId), limit);
  if (retryAfterMs !== undefined) throw tooManyPushes(Math.ceil(retryAfterMs / 1000));
}

/** Leaves a push to the schedule, which sees it within a minute. One that comes while another is looked at is one more. */
export async function recordPush({ account_id, instance_id, hash }: Hook): Promise<void> {
  const at = now();
  await updateOne(keys.push(instance_id), { set: { account_id, instance_id, pushed_at: at } }, { exists: false });
  await updateOne(keys.code(account_id, instance_id), { set: { hook_used_at: at } }, { equals: { hook_hash: hash } });
}

const PushRecord = z.object({
  account_id: text,
  instance_id: text,
  /** The time when the newest push came. */
  pushed_at: text,
  /** The check of the code that it has begun, and the push that it was begun for. */
  check_id: noText,
  checked_push: noText,
  /** Since when something else has held the instance. */
  held_since: noText,
});
export type PushRecord = z.infer<typeof PushRecord>;

/** Pushes of all accounts. */
export const listPushes = async (): Promise<PushRecord[]> => parseEach(PushRecord, await queryAll(keys.pushes()));
