// Calls a provider's API: sends one request, checks the response, and maps failures to an operation's error.
import * as z from "zod";
import { log } from "../platform/log.ts";
import { GiveUp, TryAgain } from "../platform/task-errors.ts";
import { because, type Reason } from "../domain/reasons.ts";
import { parseJson } from "../domain/json.ts";

/** Longer than any known response time; several calls fit into a task's five minutes. */
export const RESPONSE_SECONDS = 30;
/** The pause if a provider asks us to wait without saying how long. */
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

interface ApiOptions {
  /** The provider's name, for sentences. */
  name: string;
  address: string;
  token: string;
  /** Parses the body of an error response; the code is `UNKNOWN` if the provider did not write it. */
  errorIn: (body: unknown) => Omit<ErrorResponse, "status">;
  /** What an error means, if the provider has its own code for it. */
  meaning: (error: ErrorResponse) => Meaning | undefined;
  /** The longest pause if `RateLimit-Reset` is when the whole hour's quota is back: single requests are possible long before. */
  pauseSecondsMax?: number;
}

/** The code of an error response that the provider did not write. */
export const UNKNOWN = "unknown";
/** The code of every provider for what does not exist. */
const NOT_FOUND = "not_found";

/**
 * `broken`: it is unknown whether the request took effect. `rejected`: repeating it would not help, and no other meaning applies.
 */
export type Meaning = "quota" | "capacity" | "unauthorized" | "busy" | "broken" | "rejected";

interface Call<T> {
  method: "GET" | "POST" | "DELETE";
  path: string;
  query?: Record<string, string>;
  body?: unknown;
  schema: z.ZodType<T>;
}

export interface Ask {
  <T>(call: Call<T> & { method: "POST" }): Promise<T>;
  /** Undefined if there is no such thing (404). */
  <T>(call: Call<T>): Promise<T | undefined>;
}

export function api({ name, address, token, errorIn, meaning, pauseSecondsMax = PAUSE_SECONDS_MAX }: ApiOptions): Ask {
  let pause = { until: 0, message: "" };

  function ask<T>(call: Call<T> & { method: "POST" }): Promise<T>;
  function ask<T>(call: Call<T>): Promise<T | undefined>;
  async function ask<T>({ method, path, query, body, schema }: Call<T>): Promise<T | undefined> {
    const callName = `${name} ${method} ${path}`;
    if (Date.now() < pause.until) throw rateLimited(name, pause.message);
    const { response, text } = await send(`${address}${path}${search(query)}`, method, token, body).catch((error: unknown) => {
      throw new TryAgain("PROVIDER_ERROR", because("provider_silent", { provider: name }), {
        cause: new Error(callName, { cause: error }),
      });
    });
    if (response.ok) return read(name, callName, schema, text);
    const error = { status: response.status, ...errorIn(parsed(text)) };
    if (error.status === 404 && error.code === NOT_FOUND && method !== "POST") return undefined;
    const message = withoutSecret(error.message, token);
    const cause = new Error(`${callName}: ${error.status} ${error.code}: ${message}`);
    if (response.status === 429) {
      pause = { until: Date.now() + pauseSeconds(response.headers, pauseSecondsMax) * 1000, message };
      throw rateLimited(name, message, { cause });
    }
    throw failure(name, meaning(error) ?? classify(error), { ...error, message }, cause);
  }
  return ask;
}

async function send(url: string, method: string, token: string, body: unknown): Promise<{ response: Response; text: string }> {
  const response = await fetch(url, {
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
  return { response, text: await readBody(response) };
}

/** If the response cannot be parsed, it is unknown whether the request took effect. */
function read<T>(name: string, callName: string, schema: z.ZodType<T>, text: string): T {
  const result = schema.safeParse(parsed(text));
  if (result.success) return result.data;
  const paths = result.error.issues.map(({ path }) => path.join("."));
  const cause = new Error(`${callName}: unexpected at ${paths.join(", ")}`);
  throw new TryAgain("PROVIDER_ERROR", because("provider_not_understood", { provider: name }), { cause });
}

const rateLimited = (name: string, message: string, options?: ErrorOptions): RetryLater =>
  new RetryLater("PROVIDER_ERROR", withMessage(name, because("provider_limits", { provider: name }), message), options);

/** A reason with the provider's own sentence, if it wrote one. */
function withMessage(name: string, reason: Reason, message: string): Reason {
  const sentence = cleaned(message);
  return sentence === "" ? reason : because("provider_said", { why: reason, provider: name, message: sentence });
}

interface Failed {
  /** The provider's code, if the failure was not that of a response. */
  status: number | string;
  message: string;
}

export function failure(name: string, meaning: Meaning, { status, message }: Failed, cause: Error): Error {
  const says = (reason: Reason): Reason => withMessage(name, reason, message);
  switch (meaning) {
    case "quota":
      return new GiveUp("PROVIDER_QUOTA_EXCEEDED", says(because("quota_used_up", { provider: name })), { cause });
    case "capacity":
      return new GiveUp("PROVIDER_OUT_OF_CAPACITY", says(because("provider_out_of_capacity", { provider: name })), { cause });
    case "unauthorized":
      return new GiveUp("PROVIDER_UNAUTHORIZED", says(because("credentials_rejected", { provider: name })), {
        cause,
      });
    case "busy":
      return new RetryLater("PROVIDER_ERROR", says(because("provider_busy", { provider: name })), { cause });
    case "broken":
      return new TryAgain("PROVIDER_ERROR", says(because("provider_error", { provider: name, status })), { cause });
    case "rejected":
      return new GiveUp(
        "PROVIDER_ERROR",
        says(
          status === 404
            ? because("provider_lacks_resource", { provider: name })
            : because("provider_rejected", { provider: name, status }),
        ),
        { cause },
      );
    default:
      throw new Error(`No such meaning: ${String(meaning satisfies never)}`);
  }
}

const SENTENCE_MAX = 200;

/** A provider's message on one line, for people: it may echo what was sent. */
function cleaned(message: string): string {
  const line = message
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  return line.length > SENTENCE_MAX ? `${line.slice(0, SENTENCE_MAX - 1).trimEnd()}…` : line.replace(/\.$/, "");
}

const withoutSecret = (text: string, secret: string): string => (secret === "" ? text : text.replaceAll(secret, "(hidden)"));

/** A response that the provider did not write comes from a proxy, which may have passed the request on. */
function classify({ status, code }: ErrorResponse): Meaning {
  if (status === 401) return "unauthorized";
  if (code === UNKNOWN || status >= 500 || status === 408) return "broken";
  return status === 409 || status === 423 ? "busy" : "rejected";
}

/** Far more than the longest page of a list. */
const BODY_BYTES_MAX = 16 * 1024 * 1024;

export async function readBody({ body }: Response): Promise<string> {
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

/** 20,000 machines at Hetzner, 80,000 at DigitalOcean; at a tenth of a second a page, a task's five minutes allow for more. */
const PAGES_MAX = 400;

/** All entries of a list, across its pages: `more` says whether another page follows. */
export async function allPages(
  page: (number: number) => Promise<{ entries: readonly unknown[]; more: boolean } | undefined>,
): Promise<unknown[]> {
  const all: unknown[] = [];
  for (let number = 1; number <= PAGES_MAX; number++) {
    const part = await page(number);
    // An empty list would mean that there are no machines.
    if (part === undefined) throw new TryAgain("PROVIDER_ERROR", because("provider_lacks_list"));
    all.push(...part.entries);
    if (!part.more) return all;
  }
  throw new TryAgain("PROVIDER_ERROR", because("provider_endless_list"));
}

/** The entries that can be parsed: one odd entry must not stop all that is done with the others. */
export function parseable<T>(name: string, list: string, schema: z.ZodType<T>, entries: readonly unknown[]): T[] {
  return entries.flatMap((entry) => {
    const { success, data, error } = schema.safeParse(entry);
    if (success) return [data];
    const paths = error.issues.map(({ path }) => path.join(".")).join(", ");
    log.warn("a provider's entry cannot be parsed and is left out", { provider: name, list, places: paths });
    return [];
  });
}

/** All entries, where an entry that is left out could mean a machine that is paid for twice or never given back. */
export function parseAll<T>(name: string, list: string, schema: z.ZodType<T>, entries: readonly unknown[]): T[] {
  const parsedEntries = parseable(name, list, schema, entries);
  if (parsedEntries.length < entries.length)
    throw new TryAgain("PROVIDER_ERROR", because("provider_not_understood", { provider: name }));
  return parsedEntries;
}

const search = (query: Record<string, string> | undefined): string =>
  query === undefined ? "" : `?${new URLSearchParams(query).toString()}`;

/** Undefined is an error page of a proxy in front of the provider. */
const parsed = (text: string): unknown => (text === "" ? null : parseJson(text));
