// The limits that CONTRACT and specification set, with their units.

/** The window over which requests are counted. */
export const WINDOW_SECONDS = 60;

/** Requests of one credential in any window: on all endpoints, and of those creations and deletions. */
export const REQUEST_LIMITS = { all: 100, create_delete: 20 } as const;

export const BODY_BYTES_MAX = 64 * 1024;

/** Failed sign-ins in `LOGIN_WINDOW_SECONDS`: for one e-mail from one address, and from one address in all. */
export const LOGIN_FAILURES = { pair: 10, address: 50 } as const;
export const LOGIN_WINDOW_SECONDS = 15 * 60;

export const SESSION_HOURS = 12;
export const SESSIONS_PER_USER = 20;

export const IDEMPOTENCY_HOURS = 24;
export const DOWNLOAD_MINUTES = 15;

/** How much an account may have unless the operator says otherwise. */
export const DEFAULT_QUOTAS = { server: 10, instance: 100, token: 100, ssh_key: 100, user: 20 } as const;
export type QuotaKind = keyof typeof DEFAULT_QUOTAS;

/** A server is offline after this many failed probes in a row, one a minute. */
export const FAILED_PROBES_MAX = 5;
