// Secrets that wait, encrypted, for the task that uses them; never in an execution's input.
import { type Change, now } from "./change.ts";
import { keys } from "./keys.ts";
import { find, removeOne } from "./table.ts";
import { seal, unseal } from "../platform/sealing.ts";
import * as z from "zod";
import { HOUR_SECONDS } from "../domain/durations.ts";
import { ttlAfter } from "./ttl.ts";

const Sealed = z.object({ sealed: z.string() });

/** Longer than any workflow may take; the task that uses the secret removes it long before. */
const KEPT_HOURS = 24;

const buildContext = (accountId: string, operationId: string): string => `operation:${accountId}:${operationId}`;

export async function storeSealed(change: Change, operationId: string, secret: string): Promise<void> {
  const sealed = await seal(secret, buildContext(change.accountId, operationId));
  change.put(keys.sealed(change.accountId, operationId), {
    sealed,
    created_at: now(),
    ttl: ttlAfter(KEPT_HOURS * HOUR_SECONDS),
  });
}

/** Undefined once it has been used. */
export async function readSealed(accountId: string, operationId: string): Promise<string | undefined> {
  const item = await find({ key: keys.sealed(accountId, operationId), schema: Sealed });
  return item === undefined ? undefined : unseal(item.sealed, buildContext(accountId, operationId));
}

export const removeSealed = (accountId: string, operationId: string): Promise<void> =>
  removeOne(keys.sealed(accountId, operationId));
