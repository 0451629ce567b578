// The one gate that all requests of the page pass: it is closed while the API's rate limit is reached, and then lets them through
// one by one.
import { BASE_PATH } from "../../../shared/api/base-path.ts";
import { REQUEST_LIMITS } from "../../../shared/domain/limits.ts";
import { serviceNow } from "../session/clock.ts";
import { errorIn } from "../session/error-in.ts";
import { onOtherUser } from "../session/session.ts";
import { createStore } from "../session/store.ts";

/** The wait after responses that do not say how long to wait. */
const WAIT_SECONDS = 60;

/** The end of the wait, in milliseconds of the browser's clock. */
let closedUntil = 0;
/** The same, once a request waits for it: only then does the page say so. */
const waitingUntil = createStore(0);
export const useWaitingUntil = waitingUntil.use;

/** The requests that wait, and the one that is let through after the wait, in their order. */
let line: Promise<unknown> = Promise.resolve();
let inLine = 0;

/** The other tabs share the user's limit. */
const tabs = new BroadcastChannel("rate-limit");
tabs.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
  if (typeof data === "number") closedUntil = Math.max(closedUntil, data);
});

onOtherUser(() => {
  closedUntil = 0;
  rateLimit = { remaining: Infinity, until: 0 };
  waitingUntil.set(0);
});

function closeUntil(moment: number): void {
  if (moment <= closedUntil) return;
  closedUntil = moment;
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none
  tabs.postMessage(moment);
}

/** What the last response said of the limit: how many requests are left, and when there will be more. */
let rateLimit = { remaining: Infinity, until: 0 };

/** Waits as long as others would have fewer requests than this left. One request may follow. */
export async function waitForRoom(requests: number): Promise<void> {
  while (rateLimit.remaining <= requests && rateLimit.until > Date.now())
    await new Promise((resolve) => {
      setTimeout(resolve, rateLimit.until - Date.now());
    });
}

export const isClosed = (): boolean => closedUntil > Date.now();

type Request = Parameters<typeof fetch>;

/** Signing in and out, and what else needs no session. */
const AROUND_SESSIONS = new RegExp(`^${BASE_PATH}/auth/(?:log|sso/|password-reset|invitations/)`);

/** Sends a request at once, or when its turn has come. Signing in and out does not wait: the limit is of the session. */
export async function throughGate(request: Request, send: (...request: Request) => Promise<Response>): Promise<Response> {
  const [url, init] = request;
  if (typeof url === "string" && AROUND_SESSIONS.test(url)) return send(...request);
  const sendNoting = async (): Promise<Response> => {
    const response = await send(...request);
    await readRateLimit(response, init?.method);
    return response;
  };
  if (inLine === 0 && !isClosed()) return sendNoting();
  inLine++;
  const turn = line.then(async () => {
    await opened(init?.signal);
    return sendNoting();
  });
  line = turn.catch(() => undefined);
  return turn.finally(() => inLine--);
}

async function opened(signal: AbortSignal | null | undefined): Promise<void> {
  while (isClosed()) {
    signal?.throwIfAborted();
    waitingUntil.set(closedUntil);
    await new Promise((resolve) => {
      setTimeout(resolve, closedUntil - Date.now());
      signal?.addEventListener("abort", resolve, { once: true });
    });
  }
  signal?.throwIfAborted();
}

/** Closes the gate if a response says that the limit is reached. */
async function readRateLimit(response: Response, method: string | undefined): Promise<void> {
  const { status, headers } = response;
  const [limit = Number.NaN, remaining, reset = 0] = ["limit", "remaining", "reset"].map((name) =>
    Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN),
  );
  // The other limit, of creations and deletions, leaves all else alone: whoever sent those tries again.
  const isForAll = method === "GET" || Number.isNaN(limit) || limit === REQUEST_LIMITS.all;
  if (status === 429 && isForAll && (await isShared(response)))
    closeUntil(Date.now() + Number(headers.get("retry-after") ?? WAIT_SECONDS) * 1000);
  else if (limit === REQUEST_LIMITS.all && remaining !== undefined) {
    rateLimit = { remaining, until: Date.now() + reset * 1000 - serviceNow() };
    if (remaining === 0) closeUntil(rateLimit.until);
  }
}

/** Whether all requests share the limit: that of wrong codes, or of invitations in a day, is of nothing else. */
async function isShared(response: Response): Promise<boolean> {
  const details = (await errorIn(response))?.details;
  const scope: unknown = typeof details === "object" && details !== null && "scope" in details ? details.scope : undefined;
  return scope === undefined || scope === "all" || scope === "address";
}
