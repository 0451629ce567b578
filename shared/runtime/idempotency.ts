// `Idempotency-Key`: the response to a POST is stored for a day, and a retry gets the same response without a second effect.
//
// The record is read together with what the handler needs and written in the transaction of the effect, so that it costs no
// call and no claim can be left behind: of two concurrent requests one is written, and the other gets an
// error: the first was still running.
//
// For an endpoint that doesn't store its response (`storesResponse`), only the request is stored: a retry runs again.
import * as z from "zod";
import { ApiError, firstInProgress, invalid } from "../api/errors.ts";
import { type Change, operationIn } from "../data/change.ts";
import { keys } from "../data/keys.ts";
import { HOUR_MS } from "../domain/durations.ts";
import type { Caller } from "../records/schemas/caller.ts";
import { find, type Ref } from "../data/table.ts";
import { put } from "../data/writes.ts";
import { canonical } from "../domain/canonical.ts";
import { IDEMPOTENCY_HOURS } from "../domain/limits.ts";
import { keyedHash, matchesKeyedHash, seal, unseal } from "../platform/sealing.ts";

const StoredRequest = z.object({
  request: z.string(),
  answer: z.string(),
  /** The operation that the request started, if any. */
  operation_id: z.string().optional(),
  expires_at: z.string(),
  /**
   * The time until which the key stays with this request, if its response is not stored. `expires_at` has passed then: versions
   * that do not know this field run a retry again, too.
   */
  reserved_until: z.string().optional(),
});
const StoredResponse = z.object({ status: z.number(), location: z.string().optional(), data: z.unknown() });
export type StoredResponse = z.infer<typeof StoredResponse>;

interface IdempotentRequest {
  key: string;
  caller: Caller;
  /** Method, path and body: the same key with a different one is an error. */
  fingerprint: string;
}

/** 1 to 255 printable ASCII characters. */
const KEY = /^[\x20-\x7e]{1,255}$/;

export function idempotentRequest(
  key: string,
  caller: Caller,
  request: { method: string; path: string; body: unknown },
): IdempotentRequest {
  if (!KEY.test(key)) throw invalid({ field: "Idempotency-Key", reason: "must be 1 to 255 printable ASCII characters" });
  return { key, caller, fingerprint: `${request.method} ${request.path}\n${canonical(request.body)}` };
}

const buildKey = ({ key, caller }: IdempotentRequest) => keys.idempotency(caller.account_id, caller.id, key);
const buildContext = (request: IdempotentRequest) => `idempotency:${buildKey(request).pk}:${buildKey(request).sk}`;

export const storedRequestRef = (request: IdempotentRequest): Ref<z.infer<typeof StoredRequest>> => ({
  key: buildKey(request),
  schema: StoredRequest,
});

/** How the operation that a request begins gets started. */
export interface Work {
  /** Starts the operation that the change has begun, or withdraws the change; `alsoWithdraw` adds to what is withdrawn. */
  start: (change: Change, alsoWithdraw: (withdrawal: Change) => void) => Promise<void>;
  /** Makes sure that the operation of a stored response has been started and stays. */
  resume: (accountId: string, operationId: string) => Promise<void>;
}

/**
 * The stored response, if there is one and its operation is certain to stay. Throws an error if the key was used for another
 * request.
 */
export async function readStoredResponse(
  request: IdempotentRequest,
  stored: z.infer<typeof StoredRequest> | undefined,
  resume: Work["resume"] | undefined,
): Promise<StoredResponse | undefined> {
  if (stored === undefined || (stored.reserved_until ?? stored.expires_at) < new Date().toISOString()) return undefined;
  if (!(await matchesKeyedHash(stored.request, request.fingerprint))) throw new ApiError("IDEMPOTENCY_KEY_REUSED");
  if (stored.reserved_until !== undefined) return undefined;
  if (stored.operation_id !== undefined) await resume?.(request.caller.account_id, stored.operation_id);
  return StoredResponse.parse(JSON.parse(await unseal(stored.answer, buildContext(request))));
}

/**
 * Stores the response with the change. It is encrypted as a whole, because some responses contain a secret that is shown once.
 */
export async function storeResponse(change: Change, request: IdempotentRequest, response: StoredResponse): Promise<void> {
  const operation = operationIn(change);
  await record(change, request, {
    answer: await seal(JSON.stringify(response), buildContext(request)),
    ...(operation !== undefined && { operation_id: operation.id }),
    expires_at: inADay(),
  });
}

/** Stores only which request the key belongs to. */
export const reserveKey = async (change: Change, request: IdempotentRequest): Promise<void> =>
  record(change, request, { answer: "", expires_at: new Date(0).toISOString(), reserved_until: inADay() });

const inADay = (): string => new Date(Date.now() + IDEMPOTENCY_HOURS * HOUR_MS).toISOString();

async function record(
  change: Change,
  request: IdempotentRequest,
  response: Omit<z.infer<typeof StoredRequest>, "request">,
): Promise<void> {
  const until = response.reserved_until ?? response.expires_at;
  const item = { request: await keyedHash(request.fingerprint), ...response, ttl: Math.ceil(Date.parse(until) / 1000) };
  change.writeFirst(put(buildKey(request), item, () => firstInProgress(), { expiredBy: new Date().toISOString() }));
}

/** The error if a response has been stored by now, while this request was running. */
export async function inProgress(request: IdempotentRequest): Promise<ApiError | undefined> {
  const stored = await find(storedRequestRef(request));
  return stored === undefined || stored.expires_at < new Date().toISOString() ? undefined : firstInProgress();
}

/** Deletes the stored response if its operation could not be started. */
export const removeStoredRequest = (change: Change, request: IdempotentRequest): void =>
  change.remove(buildKey(request), { exists: false });
