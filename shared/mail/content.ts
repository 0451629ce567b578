// What the mails of every language have in common.
import { recognizeDevice } from "../domain/device.ts";
import type { Language } from "../domain/languages.ts";
import type { DigestOutcome, Message, MessageType } from "./messages.ts";

export type Facts = (readonly [name: string, value: string])[];

/** What a mail says. Each line is a paragraph. */
export interface Content {
  subject: string;
  title: string;
  lines: string[];
  /** Names with their values. */
  facts?: Facts;
  /** What the one link says, and where it leads in the dashboard. */
  link: { label: string; path: string };
  /** What to do if the reader did not expect it, or why they get it. */
  note: string;
}

type Of<T extends MessageType> = Extract<Message, { type: T }>;
type Write<T extends MessageType> = (message: Of<T>, context: Context) => Content;

/** The product's name as the operator's brand has it, and how times are written. */
export interface Context {
  product: string;
  time: (at: string) => string;
}

export type Words = { [T in MessageType]: Write<T> } & { html: { lang: Language } };

/** Puts a token into the fragment, which browsers send to no server and in no header. */
const withToken = (path: string, token: string): string => `${path}#token=${encodeURIComponent(token)}`;

export const PATHS = {
  accept: (token: string) => withToken("/accept-invitation", token),
  reset: (token: string) => withToken("/reset-password", token),
  account: "/settings/account",
  webhook: (id: string) => `/settings/webhooks/${encodeURIComponent(id)}`,
  activity: "/activity",
  tokens: "/settings/api-keys",
};

export type SignInPlace = Pick<Of<"new_place">, "at" | "ip_address" | "user_agent">;

export const placeFacts = (facts: Readonly<Record<string, string | null>>): Facts =>
  Object.entries(facts).filter((fact): fact is [string, string] => fact[1] !== null);

/** The browser on its system; a program as it names itself. */
export function nameDevice(userAgent: string | null, on: string): string | null {
  const device = userAgent === null ? undefined : recognizeDevice(userAgent);
  return device === undefined ? userAgent : `${device.browser} ${on} ${device.system}`;
}

/** A digest of one outcome says it in its subject. */
export function digestSubject(
  outcomes: readonly DigestOutcome[],
  more: number,
  words: { one: string; many: (count: number) => string },
  describe: (outcome: DigestOutcome) => string,
): string {
  const [firstOutcome, ...others] = outcomes;
  if (firstOutcome !== undefined && others.length === 0 && more === 0) return describe(firstOutcome);
  return words.many(outcomes.length + more);
}

export const isClosed = ({ event_type }: DigestOutcome): boolean => event_type === "alert.closed";
