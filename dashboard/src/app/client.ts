// The API's client in the browser: signed in with the session; a 401 response ends the session.
import { BASE_PATH } from "../../../shared/api/base-path.ts";
import { buildClient } from "../../../shared/api/client-of.ts";
import { PROBLEMS } from "../../../shared/domain/problems.ts";
import { language } from "../messages/language.ts";
import { adjustClock } from "../session/clock.ts";
import { errorIn } from "../session/error-in.ts";
import { withProof } from "../session/proof.ts";
import { endSession, onOtherUser, session } from "../session/session.ts";
import { detectRequiredSetUp } from "../session/set-up.ts";
import { endpoints } from "./endpoints.ts";
import { throughGate } from "./gate.ts";
import { MINUTE_MS } from "../../../shared/domain/durations.ts";

/** A request as it would be sent. */
export interface ApiRequest {
  method: string;
  /** Absolute. */
  url: string;
  headers: Readonly<Record<string, string>>;
  body: unknown;
}

/** Sends a request with the client. */
export type Send = () => Promise<unknown>;

let captureRequest: ((request: ApiRequest) => void) | undefined;

/** The request that a function would send, which it does not: a call of the client fetches before it waits for anything. */
export function requestOf(send: Send): ApiRequest {
  let captured: ApiRequest | undefined;
  captureRequest = (request) => {
    captured = request;
  };
  try {
    void send();
  } finally {
    captureRequest = undefined;
  }
  if (captured === undefined) throw new Error("The function sent no request at once");
  return captured;
}

export const client = buildClient(endpoints, {
  baseUrl: BASE_PATH,
  token: () => session()?.token,
  fetch: async (...request) => {
    if (captureRequest !== undefined) {
      const [url, { method = "GET", headers, body } = {}] = request;
      captureRequest({
        method,
        url: new URL(url instanceof Request ? url.url : url, window.location.origin).href,
        headers: Object.fromEntries(new Headers(headers)),
        body: typeof body === "string" ? JSON.parse(body) : undefined,
      });
      return new Promise<never>(() => undefined);
    }
    const token = session()?.token;
    const response = await withProof(() => throughGate(request, revalidated));
    adjustClock(response.headers.get("date"));
    // A response that arrives after another sign-in does not affect the new session.
    if (token === undefined || session()?.token !== token) return response;
    if (response.status === 401 && !(await isOfSomethingElse(response))) endSession("ended");
    await detectRequiredSetUp(response);
    return response;
  },
});

/**
 * A wrong code, passkey or single sign-on of whoever is signed in, or a link that is not valid, which they may open, too: not a
 * session that has ended.
 */
async function isOfSomethingElse(response: Response): Promise<boolean> {
  const message = (await errorIn(response))?.message;
  return [PROBLEMS.error_proof, PROBLEMS.error_sso, PROBLEMS.error_link].some((each) => each === message);
}

/**
 * Longer than the API takes for any response (an authorizer of 20 s, a function of 28 s): after it, the connection is gone
 * without a word, as on a train or after a night.
 */
const SILENCE_MS = MINUTE_MS;

/** Otherwise a page would wait for minutes, until the browser gives up. Mails are in the page's language, not the browser's. */
async function fetchInTime(url: Parameters<typeof fetch>[0], init: RequestInit): Promise<Response> {
  const headers = { ...Object.fromEntries(new Headers(init.headers)), "accept-language": language };
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), SILENCE_MS);
  const signals = [silence.signal, ...(init.signal ? [init.signal] : [])];
  try {
    return await fetch(url, { ...init, headers, signal: AbortSignal.any(signals) });
  } finally {
    clearTimeout(timer);
  }
}

/** Whose ETag covers the whole response: others leave out what a server reports, or what follows from something else. */
const WHOLLY_VERSIONED = new RegExp(`^${BASE_PATH}/(?:overview|(?:backups|operations|ssh-keys)/[^/?]+)$`);

/** Their last versions: as long as nothing has changed, the API sends none again. */
let versions = new Map<string, { etag: string; body: string }>();
const VERSIONS_MAX = 50;
onOtherUser(() => {
  versions = new Map();
});

async function revalidated(...[url, init = {}]: Parameters<typeof fetch>): Promise<Response> {
  if (typeof url !== "string" || init.method !== "GET" || !WHOLLY_VERSIONED.test(url)) return fetchInTime(url, init);
  const ownVersions = versions; // of this user, even if another one signs in meanwhile
  const last = ownVersions.get(url);
  const headers = { ...Object.fromEntries(new Headers(init.headers)), ...(last && { "if-none-match": last.etag }) };
  const response = await fetchInTime(url, { ...init, headers });
  if (last !== undefined && response.status === 304) return new Response(last.body, { status: 200, headers: response.headers });
  const etag = response.headers.get("etag");
  if (!response.ok || etag === null) return response;
  ownVersions.delete(url); // the newest are the last
  ownVersions.set(url, { etag, body: await response.clone().text() });
  for (const [oldest] of [...ownVersions].slice(0, Math.max(0, ownVersions.size - VERSIONS_MAX))) ownVersions.delete(oldest);
  return response;
}
