// Limits on failed sign-ins: for an email from one IP address (so that nobody can lock another person out from elsewhere), for an
// IP address, and for a user's second factor. An attempt takes its slot before the password is checked, so that concurrent
// attempts cannot exceed the limit.
import { tooManySignIns } from "../../api/errors.ts";
import { LOGIN_FAILURES, LOGIN_WINDOW_SECONDS } from "../../domain/limits.ts";
import { toNetwork } from "../../domain/network.ts";
import { keys, type Key } from "../../data/keys.ts";
import { returnSlot, tryAcquireSlot } from "../../data/slots.ts";
import { removeOne } from "../../data/table.ts";

const WINDOW_MS = LOGIN_WINDOW_SECONDS * 1000;

interface LoginAttempt {
  /** Gives the slots back: only failures count. */
  succeeded: () => Promise<void>;
}

interface LoginLimit {
  key: Key;
  slots: number;
}

const addressLimit = (network: string): LoginLimit => ({ key: keys.loginFailures(network), slots: LOGIN_FAILURES.address });
const pairLimit = (...of: string[]): LoginLimit => ({ key: keys.loginFailures(...of), slots: LOGIN_FAILURES.pair });

/** What fails here was no guess: it gives the slots back, so that a rule of the account locks nobody out, nor a whole office. */
export async function withoutCounting<T>(attempt: LoginAttempt, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await attempt.succeeded();
    throw error;
  }
}

/** Throws RATE_LIMIT_EXCEEDED once an email or an IP address has failed too often. */
export function beginLoginAttempt(email: string, ipAddress: string): Promise<LoginAttempt> {
  const network = toNetwork(ipAddress);
  return beginAttempt([addressLimit(network), pairLimit(email.toLowerCase(), network)]);
}

/**
 * Begins an attempt that is limited by the address alone, for a request that names nobody: behind one address a whole office may
 * open links and finish single sign-on at once, and what they send is too long to be guessed.
 */
export const beginAddressAttempt = (ipAddress: string): Promise<LoginAttempt> =>
  beginAttempt([addressLimit(toNetwork(ipAddress))]);

/**
 * The same for a second factor: wherever it is tried from, because whoever tries many has the password, or a session. By the
 * address alone if what was sent names no user.
 */
export function beginProofAttempt(userId: string | undefined, ipAddress: string): Promise<LoginAttempt> {
  return userId === undefined
    ? beginAddressAttempt(ipAddress)
    : beginAttempt([addressLimit(toNetwork(ipAddress)), pairLimit(userId)]);
}

/** Gives back the failures of an email from an IP address: whoever has just set its password is the one who had forgotten it. */
export const forgetFailures = (email: string, ipAddress: string): Promise<void> =>
  removeOne(keys.loginFailures(email.toLowerCase(), toNetwork(ipAddress)));

async function beginAttempt(limits: readonly LoginLimit[]): Promise<LoginAttempt> {
  const at = Date.now();
  const acquiredKeys: Key[] = [];
  const releaseSlots = async () => {
    await Promise.all(acquiredKeys.map((key) => returnSlot(key, at)));
  };
  for (const { key, slots } of limits) {
    const retryAfterMs = await tryAcquireSlot(key, { slots, windowMs: WINDOW_MS, at });
    if (retryAfterMs === undefined) {
      acquiredKeys.push(key);
      continue;
    }
    await releaseSlots(); // a rejected attempt does not count as a failure
    throw tooManySignIns(slots, Math.ceil(retryAfterMs / 1000));
  }
  return { succeeded: releaseSlots };
}
