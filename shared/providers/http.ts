// Calls a provider's API: sends one request, checks the response, and maps failures to an operation's error.
import * as z from "zod";
import { GiveUp, TryAgain } from "../platform/task-errors.ts";

/** Longer than any known response time; several calls fit into a task's five minutes. */
export const RESPONSE_SECONDS = 30;
/** For a provider that asks us to wait without saying how long. */
const PAUSE_SECONDS = 60;
/** All limits that are known to us are of an hour. */
const PAUSE_SECONDS_MAX = 3600;

/** The provider has not done the request but will accept it later: too many requests, or it is busy with the machine. */
export class RetryLater extends TryAgain {}

/** An error response of the provider. */
export interface ErrorResponse {
  status: number;
  /** The provider's own error code. */
  code: string;
  message: string;
}

export interface ApiOptions {
  /** The provider's name, for sentences. */
  name: string;
  address: string;
  token: string;
  /** Parses the body of an error response; the code is `UNKNOWN` if the provider did not write it. */
  errorIn: (body: unknown) => Omit<ErrorResponse, "status">;
  /** What an error means, if the provider has its own code for it. */
  meaning: (error: ErrorResponse) => Meaning | undefined;
  /** For providers whose `RateLimit-Reset` is when the whole hour's quota is back: single requests are possible long before. */
  pauseSecondsMax?: number;
}

/** The code of an error response that the provider did not write. */
export const UNKNOWN = "unknown";
/** What both providers call it. */
const NOT_FOUND = "not_found";

/** `broken`: it is unknown whether the request took effect. */
export type Meaning = "quota" | "capacity" | "unauthorized" | "busy" | "broken";

export interface Call<T> {
  method: "GET" | "POST" | "DELETE";
  path: string;
  query?: Record<string, string>;
  body?: unknown;
  schema: z.ZodType<T>;
}

/** Undefined if there is no such thing (404). */
export type Ask = <T>(call: Call<T>) => Promise<T | undefined>;

export function api({ name, address, token, errorIn, meaning, pauseSecondsMax = PAUSE_SECONDS_MAX }: ApiOptions): Ask {
  let silentUntil = 0;

  return async ({ method, path, query, body, schema }) => {
    const what = `${method} ${path}`;
    if (Date.now() < silentUntil) throw rateLimited();
    const response = await send(what, `${address}${path}${search(query)}`, { method, body });
    const text = await bodyOf(response).catch((error: unknown) => {
      throw noResponse(what, error);
    });
    if (response.ok) return read(what, schema, text);
    const error = { status: response.status, ...errorIn(parsed(text)) };
    if (error.status === 404 && error.code === NOT_FOUND) return undefined;
    const cause = new Error(`${name} ${what}: ${error.status} ${error.code}: ${error.message}`);
    if (response.status === 429) {
      silentUntil = Date.now() + pauseSeconds(response.headers, pauseSecondsMax) * 1000;
      throw rateLimited({ cause });
    }
    throw failure(error, cause);
  };

  function rateLimited(options?: ErrorOptions): RetryLater {
    return new RetryLater(
      "PROVIDER_ERROR",
      `${name} is limiting requests from this service; try again in a few minutes`,
      options,
    );
  }

  async function send(what: string, url: string, { method, body }: { method: string; body: unknown }): Promise<Response> {
    try {
      return await fetch(url, {
        method,
        redirect: "error", // the token is for this address alone
        headers: {
          authorization: `Bearer ${token}`,
          accept: "application/json",
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(RESPONSE_SECONDS * 1000),
      });
    } catch (error) {
      throw noResponse(what, error);
    }
  }

  function noResponse(what: string, error: unknown): Error {
    const cause = new Error(`${name} ${what}`, { cause: error });
    return new TryAgain("PROVIDER_ERROR", `${name} did not respond`, { cause });
  }

  /** If the response cannot be parsed, it is unknown whether the request took effect. */
  function read<T>(what: string, schema: z.ZodType<T>, text: string): T {
    const result = schema.safeParse(parsed(text));
    if (result.success) return result.data;
    const places = result.error.issues.map(({ path }) => path.join("."));
    const cause = new Error(`${name} ${what}: unexpected at ${places.join(", ")}`);
    throw new TryAgain("PROVIDER_ERROR", `${name} sent a response that this service does not understand`, { cause });
  }

  function failure(error: ErrorResponse, cause: Error): Error {
    switch (meaning(error) ?? meaningOf(error)) {
      case "quota":
        return new GiveUp("PROVIDER_QUOTA_EXCEEDED", `The quota at ${name} is used up`, { cause });
      case "capacity":
        return new GiveUp(
          "PROVIDER_OUT_OF_CAPACITY",
          `${name} has no machine of this size available in this region; try again later, or choose another size or region`,
          { cause },
        );
      case "unauthorized":
        return new GiveUp("PROVIDER_UNAUTHORIZED", `${name} rejected the service's credentials; contact the operator`, { cause });
      case "busy":
        return new RetryLater("PROVIDER_ERROR", `${name} was busy for too long; try again later`, { cause });
      case "broken":
        return new TryAgain("PROVIDER_ERROR", `${name} returned an error (${error.status})`, { cause });
      default:
        return new GiveUp("PROVIDER_ERROR", `${name} rejected the request (${error.status})`, { cause });
    }
  }
}

/** A response that the provider did not write comes from a proxy, which may have passed the request on. */
function meaningOf({ status, code }: ErrorResponse): Meaning | undefined {
  if (status === 401) return "unauthorized";
  if (code === UNKNOWN || status >= 500 || status === 408) return "broken";
  if (status === 403) return "unauthorized";
  return status === 409 || status === 423 ? "busy" : undefined;
}

/** Far more than the longest page of a list. */
const BODY_BYTES_MAX = 16 * 1024 * 1024;

async function bodyOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error(`The body is longer than ${BODY_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** `Retry-After` in seconds; else the Unix time at which there is something left again. */
function pauseSeconds(headers: Headers, most: number): number {
  const after = Number(headers.get("retry-after") ?? Number.NaN);
  if (Number.isFinite(after) && after >= 0) return Math.min(after, PAUSE_SECONDS_MAX);
  const reset = Number(headers.get("ratelimit-reset") ?? Number.NaN) - Date.now() / 1000;
  return Number.isFinite(reset) ? Math.min(Math.max(reset, 1), most) : PAUSE_SECONDS;
}

/** 10,000 DigitalOcean machines, 2,500 of Hetzner. */
const PAGES_MAX = 50;

/** All entries of a list, across its pages: `more` says whether another page follows. */
export async function allPages<T>(
  page: (number: number) => Promise<{ entries: readonly T[]; more: boolean } | undefined>,
): Promise<T[]> {
  const all: T[] = [];
  for (let number = 1; number <= PAGES_MAX; number++) {
    const part = await page(number);
    // An empty list would mean that there are no machines.
    if (part === undefined) throw new TryAgain("PROVIDER_ERROR", "The provider does not have the requested list");
    all.push(...part.entries);
    if (!part.more) return all;
  }
  throw new TryAgain("PROVIDER_ERROR", "The provider returned a list without an end");
}

const search = (query: Record<string, string> | undefined): string =>
  query === undefined ? "" : `?${new URLSearchParams(query).toString()}`;

function parsed(text: string): unknown {
  try {
    return text === "" ? null : JSON.parse(text);
  } catch {
    return undefined; // an error page of a proxy in front of the provider
  }
}
