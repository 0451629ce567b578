// The sign-in page. Without the design system, the router and the cache of responses: together they are most of what a first
// visit waits for.
import "./login.css";
import { useState } from "react";
import { flushSync } from "react-dom";
import { ClientError } from "../../../shared/api/client-of.ts";
import { client } from "../app/client.ts";
import { useTitle } from "../app/title.ts";
import { wordsOf } from "../app/words.ts";
import { text } from "../messages/text.ts";
import { useCountdown } from "../session/countdown.ts";
import { Box, Field, Product, Support } from "./parts.tsx";
import { beginSession, type Ending, useEnding, useSession } from "../session/session.ts";

const FORGOTTEN = "/forgot-password";

/** `onTyping` is called with each key, long before the user has signed in. */
export default function Login({ onTyping = () => undefined }: { onTyping?: () => void }) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [asked, setAsked] = useState(false);
  const { send, busy, error, failures, forget } = useSignIn();
  const locked = useCountdown(isLockOut(error) ? error.retryAfter : undefined, failures);
  const ending = useEnding();
  useTitle(text.login.title);
  const missing = (value: string, why: string) => (asked && value === "" ? why : undefined);
  return (
    <main className="login">
      <Product />
      <div role="alert" aria-atomic="false">
        <Notice error={error} locked={locked} ending={ending} />
      </div>
      <form
        noValidate
        onInput={onTyping}
        onSubmit={(event) => {
          event.preventDefault();
          // Shown before the field gets the focus, so that a screen reader reads the error with it.
          flushSync(() => setAsked(true));
          const empty = event.currentTarget.querySelector<HTMLInputElement>("input[aria-invalid=true]");
          if (empty !== null) empty.focus();
          else if (!busy && locked === 0) void send(email.trim(), password);
        }}
      >
        <Field
          label={text.login.email}
          error={missing(email, text.login.noEmail)}
          value={email}
          onChange={(typed) => {
            setEmail(typed);
            forget(); // the earlier error, even a lock-out, belongs to the other email
          }}
          type="email"
          name="email"
          autoComplete="username"
          autoFocus
        />
        <Field
          label={text.login.password}
          error={missing(password, text.login.noPassword)}
          value={password}
          onChange={setPassword}
          type="password"
          name="password"
          autoComplete="current-password"
        />
        <button type="submit" disabled={locked > 0} aria-busy={busy}>
          {text.login.signIn}
        </button>
      </form>
      <a href={FORGOTTEN}>{text.login.forgotten}</a>
      <Support />
    </main>
  );
}

/** Busy until the page that follows has replaced this one. */
function useSignIn() {
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  const [failures, setFailures] = useState(0);
  const session = useSession();
  const send = async (email: string, password: string): Promise<void> => {
    setSending(true);
    try {
      const { data } = await client.auth.login({ body: { email, password } });
      setError(undefined);
      beginSession(data);
    } catch (cause) {
      setError(cause);
      setFailures((before) => before + 1);
    } finally {
      setSending(false);
    }
  };
  return { send, busy: sending || session !== undefined, error, failures, forget: () => setError(undefined) };
}

function Notice({ error, locked, ending }: { error: unknown; locked: number; ending: Ending | undefined }) {
  const { login } = text;
  if (locked > 0)
    return (
      <Box type="warning" title={login.locked.title}>
        {login.locked.text(
          <span role="timer" aria-live="off">
            {clock(locked)}
          </span>,
        )}
      </Box>
    );
  if (error instanceof ClientError && error.code === "UNAUTHORIZED") return <Box type="error">{login.wrong}</Box>;
  if (error !== undefined && !isLockOut(error)) {
    const { title, text: explanation } = wordsOf(error);
    return (
      <Box type="error" title={title}>
        {explanation}
      </Box>
    );
  }
  return ending !== undefined && <Box type={ending === "logged-out-here" ? "warning" : "info"}>{login.endings[ending]}</Box>;
}

/** Other errors with a time to wait, such as from a service that is down, are not lock-outs. */
const isLockOut = (error: unknown): error is ClientError => error instanceof ClientError && error.code === "RATE_LIMIT_EXCEEDED";

const clock = (seconds: number): string => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
