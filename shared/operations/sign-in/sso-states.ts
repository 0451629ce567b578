// The state of a single sign-on, while the person is at the identity provider: sealed, so that nothing is stored until it is
// finished, once. It is for the browser tab that has begun it.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import * as z from "zod";
import { ssoInvalid } from "../../api/errors.ts";
import { keys } from "../../data/keys.ts";
import { putIfAbsent } from "../../data/table.ts";
import { isCanonical } from "../../domain/base64url.ts";
import { SSO } from "../../domain/limits.ts";
import { seal, unsealPresented } from "../../platform/sealing.ts";
import { HOUR_SECONDS, MINUTE_MS } from "../../domain/durations.ts";
import { ttlAfter } from "../../data/ttl.ts";

const State = z.object({
  id: z.string(),
  expires: z.number(),
  account: z.string(),
  /** Those of the provider to which the browser was sent. */
  links: z.string(),
  redirect: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  browser: z.string(),
});
export type State = z.infer<typeof State>;

const CONTEXT = "sso state";
const RANDOM_BYTES = 32;

const random = (): string => randomBytes(RANDOM_BYTES).toString("base64url");
const digest = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** `browser` is the hash of a secret that the tab keeps. */
export async function newState(request: Pick<State, "account" | "links" | "redirect" | "browser">) {
  const state: State = {
    ...request,
    id: randomBytes(16).toString("base64url"),
    expires: Date.now() + SSO.stateMinutes * MINUTE_MS,
    nonce: random(),
    verifier: random(),
  };
  const sealed = await seal(JSON.stringify(state), CONTEXT);
  return { text: Buffer.from(sealed).toString("base64url"), nonce: state.nonce, codeChallenge: digest(state.verifier) };
}

/** Throws 401 unless it is one of ours, in time, and this browser's. */
export async function openState(text: string, browserSecret: string): Promise<State> {
  if (!isCanonical(text)) throw ssoInvalid();
  const opened = await unsealPresented(Buffer.from(text, "base64url").toString(), CONTEXT);
  if (opened === undefined) throw ssoInvalid();
  const state = State.parse(JSON.parse(opened));
  const [expected, actual] = [Buffer.from(state.browser), Buffer.from(digest(browserSecret))];
  const isBrowsers = expected.length === actual.length && timingSafeEqual(expected, actual);
  if (!isBrowsers || state.expires <= Date.now()) throw ssoInvalid();
  return state;
}

const REMEMBERED_SECONDS = HOUR_SECONDS;

/** Uses it up, whatever comes of it: a code is tried once. */
export async function spendState({ id, expires }: State): Promise<void> {
  if (!(await putIfAbsent(keys.ssoState(id), { ttl: ttlAfter(REMEMBERED_SECONDS, expires) }))) throw ssoInvalid();
}
