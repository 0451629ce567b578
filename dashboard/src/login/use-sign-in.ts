// Signing in: with the password, the second step that may follow, or a passkey alone.
import { useEffect, useState } from "react";
import { ClientError } from "../../../shared/api/client-of.ts";
import type { Assertion, PasskeyOptions, Proof } from "../../../shared/api/second-factors.ts";
import { client } from "../app/client.ts";
import { askPasskey, loadPasskeys, NoPasskey } from "../app/ask-passkey.ts";
import { offersPasskeys } from "../session/passkeys-offered.ts";
import { type AskedProof, isAsked } from "../session/proof.ts";
import { beginSession, useSession } from "../session/session.ts";
import { goToProvider } from "./sso.ts";
import { MINUTE_MS } from "../../../shared/domain/durations.ts";

type Send = () => Promise<Parameters<typeof beginSession>[0]>;

/** Busy until the page that follows has replaced this one. */
export function useSignIn() {
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  const [failures, setFailures] = useState(0);
  const [credentials, setCredentials] = useState({ email: "", password: "" });
  const [required, setRequired] = useState<AskedProof>();
  const session = useSession();

  const attempt = async (send: Send): Promise<void> => {
    setSending(true);
    try {
      const newSession = await send();
      setError(undefined);
      beginSession(newSession);
    } catch (cause) {
      const proof = askedFor(cause);
      if (proof !== undefined) setRequired(proof);
      setError(proof === undefined ? cause : undefined);
      if (proof === undefined) setFailures((before) => before + 1);
    } finally {
      setSending(false);
    }
  };

  const signIn = (email: string, password: string): Promise<void> => {
    setCredentials({ email, password });
    return attempt(async () => (await client.auth.login({ body: { email, password } })).data);
  };

  const prove = (make: () => Promise<Omit<Proof, "challenge">>): Promise<void> =>
    attempt(async () => {
      const answer = await make();
      try {
        return (await client.auth.secondFactor({ body: { ...answer, challenge: required?.challenge ?? "" } })).data;
      } catch (wrong) {
        setRequired((await challengeFor(credentials)) ?? required); // the challenge may be used up
        throw wrong;
      }
    });

  return {
    signIn,
    required,
    proveCode: (method: "totp" | "recovery_code", code: string): Promise<void> => prove(async () => ({ method, code })),
    usePasskey: (): Promise<void> =>
      prove(async () => ({ method: "passkey", assertion: await askPasskey(required?.passkey_options ?? undefined) })),
    withSso: (email: string): Promise<void> => attempt(() => leaveFor(email)),
    withPasskey: (): Promise<void> => attempt(() => signInAlone(askPasskey)),
    back: () => {
      setRequired(undefined);
      setError(undefined);
    },
    busy: sending || session !== undefined,
    error,
    failures,
    forget: () => setError(undefined),
  };
}

/** Busy until the provider's page is there. */
async function leaveFor(email: string): Promise<never> {
  await goToProvider(email);
  return new Promise<never>(() => undefined);
}

const challengeFor = (body: { email: string; password: string }): Promise<AskedProof | undefined> =>
  client.auth.login({ body }).then(() => undefined, askedFor);

const askedFor = (error: unknown): AskedProof | undefined =>
  error instanceof ClientError && error.code === "SECOND_FACTOR_REQUIRED" && isAsked(error.details) ? error.details : undefined;

async function signInAlone(ask: (options: PasskeyOptions) => Promise<Assertion>) {
  const { data: options } = await client.auth.passkeyLoginOptions({ body: {} });
  return (await client.auth.passkeyLogin({ body: { assertion: await ask(options) } })).data;
}

/** A challenge is renewed after this time, before it has expired. */
const RENEW_MS = 4 * MINUTE_MS;

/** Suggests passkeys for the email field, where the browser can. */
export function useSuggestedPasskeys(isShown: boolean): void {
  useEffect(() => {
    if (!isShown || !offersPasskeys()) return undefined;
    const controller = new AbortController();
    const wait = async (): Promise<void> => {
      const { pickedPasskey, suggestsPasskeys } = await loadPasskeys();
      if (controller.signal.aborted || !(await suggestsPasskeys())) return;
      const newSession = await signInAlone(async (options) => {
        // The options may arrive after the user has begun to sign in: asking now would end what the user is asked for.
        if (controller.signal.aborted) throw new NoPasskey();
        return pickedPasskey(options);
      });
      if (!controller.signal.aborted) beginSession(newSession);
    };
    // Who picks none, or another one that does not work, types an email.
    const begin = () => void wait().catch(() => undefined);
    begin();
    const timer = setInterval(begin, RENEW_MS);
    return () => {
      controller.abort();
      clearInterval(timer);
      void loadPasskeys().then(({ stopAsking }) => stopAsking());
    };
  }, [isShown]);
}
