// Requests that need a fresh proof of the second factor wait for it, and are then sent again.
import type { Method, PasskeyOptions } from "../../../shared/api/second-factors.ts";
import { errorIn } from "./error-in.ts";
import { session, subscribe } from "./session.ts";
import { createStore } from "./store.ts";

/** What the API asks for a proof with. */
export interface AskedProof {
  challenge: string;
  methods: readonly Method[];
  passkey_options: PasskeyOptions | null;
}

/** `again`: for another challenge, because this one may be used up. */
type Answer = "proven" | "again" | "declined";

const open = createStore<{ required: AskedProof; answer: (answer: Answer) => void } | undefined>(undefined);
export const useOpenProof = open.use;

/** Who asks now, and how many wait or ask: the proof of the first counts for the others, too. */
let line: Promise<unknown> = Promise.resolve();
let waiting = 0;

export async function withProof(send: () => Promise<Response>): Promise<Response> {
  const response = await send();
  const required = await askedIn(response);
  if (required === undefined) return response;
  const isFirst = waiting++ === 0;
  const result = line
    .then(async () => proveAndRepeat(send, isFirst ? response : await send()))
    .finally(() => {
      waiting -= 1;
    });
  line = result.catch(() => undefined);
  return result;
}

async function proveAndRepeat(send: () => Promise<Response>, first: Response): Promise<Response> {
  let response = first;
  try {
    for (;;) {
      const required = await askedIn(response);
      if (required === undefined || (await ask(required)) === "declined") return response;
      response = await send();
    }
  } finally {
    open.set(undefined);
  }
}

const ask = (required: AskedProof): Promise<Answer> =>
  new Promise((resolve) => {
    const stop = subscribe(() => {
      if (session() === undefined) answer("declined");
    });
    const answer = (reply: Answer): void => {
      stop();
      resolve(reply);
    };
    open.set({ required, answer });
  });

async function askedIn(response: Response): Promise<AskedProof | undefined> {
  if (response.status !== 403) return undefined;
  const error = await errorIn(response);
  return error?.code === "REAUTHENTICATION_REQUIRED" && isAsked(error.details) ? error.details : undefined;
}

export const isAsked = (details: unknown): details is AskedProof =>
  typeof details === "object" &&
  details !== null &&
  "challenge" in details &&
  typeof details.challenge === "string" &&
  "methods" in details &&
  Array.isArray(details.methods) &&
  "passkey_options" in details;
