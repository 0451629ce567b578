// The sign-in page. Without the design system, the router and the cache of responses: together they are most of what a first
// visit waits for.
import "./login.css";
import { useRef, useState } from "react";
import { flushSync } from "react-dom";
import { ClientError } from "../../../shared/api/client-of.ts";
import { recognizeProblem } from "../../../shared/domain/problems.ts";
import { useTitle } from "../app/title.ts";
import { describeError } from "../app/words.ts";
import { text } from "../messages/text.ts";
import { useCountdown } from "../session/countdown.ts";
import { whyNoPasskeys } from "../session/passkeys-offered.ts";
import { type Ending, useEnding } from "../session/session.ts";
import { Box, Field, Product, Support } from "./parts.tsx";
import { SecondStep } from "./second-step.tsx";
import { OtherAddress } from "./sso.ts";
import { NoPasskey } from "../app/ask-passkey.ts";
import { useSignIn, useSuggestedPasskeys } from "./use-sign-in.ts";

const FORGOTTEN = "/forgot-password";

/** `onTyping` is called with each key, long before the user has signed in. */
export default function Login({ onTyping = () => undefined }: { onTyping?: () => void }) {
  const signing = useSignIn();
  const { required, busy, error, failures } = signing;
  const locked = useCountdown(isLockOut(error) ? error.retryAfter : undefined, failures);
  const ending = useEnding();
  const noPasskeys = whyNoPasskeys();
  useTitle(required === undefined ? text.login.title : text.login.second.title);
  useSuggestedPasskeys(required === undefined && !busy);
  return (
    <main className="login">
      <Product />
      <div role="alert" aria-atomic="false">
        <Notice error={error} locked={locked} ending={ending} isSecond={required !== undefined} />
      </div>
      {required === undefined ? (
        <>
          <PasswordForm {...signing} locked={locked > 0} onTyping={onTyping} />
          {noPasskeys === undefined ? (
            <button type="button" className="second" aria-busy={busy} onClick={() => !busy && void signing.withPasskey()}>
              {text.login.withPasskey}
            </button>
          ) : (
            <p className="quiet">{noPasskeys}</p>
          )}
          <a href={FORGOTTEN}>{text.login.forgotten}</a>
        </>
      ) : (
        <SecondStep
          required={required}
          busy={busy}
          locked={locked > 0}
          proveCode={(method, code) => void signing.proveCode(method, code)}
          usePasskey={() => void signing.usePasskey()}
          onBack={signing.back}
        />
      )}
      <Support />
    </main>
  );
}

interface PasswordFormProps extends Pick<ReturnType<typeof useSignIn>, "signIn" | "withSso" | "busy" | "forget"> {
  locked: boolean;
  onTyping: () => void;
}

function PasswordForm({ signIn, withSso, busy, forget, locked, onTyping }: PasswordFormProps) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [submitted, setSubmitted] = useState<"password" | "sso">();
  const form = useRef<HTMLFormElement>(null);
  /** Unless something is missing, which gets the focus. */
  const send = (method: "password" | "sso"): void => {
    // Shown before the field gets the focus, so that a screen reader reads the error with it.
    flushSync(() => setSubmitted(method));
    const empty = form.current?.querySelector<HTMLInputElement>("input[aria-invalid=true]");
    if (empty != null) empty.focus();
    else if (!busy && !locked) void (method === "sso" ? withSso(email.trim()) : signIn(email.trim(), password));
  };
  return (
    <form
      ref={form}
      noValidate
      onInput={onTyping}
      onSubmit={(event) => {
        event.preventDefault();
        send("password");
      }}
    >
      <Field
        label={text.login.email}
        error={submitted !== undefined && email.trim() === "" ? text.login.noEmail : undefined}
        value={email}
        onChange={(typed) => {
          setEmail(typed);
          forget(); // the earlier error, even a lock-out, belongs to the other email
        }}
        type="email"
        name="email"
        autoComplete="username webauthn"
        autoFocus
      />
      <Field
        label={text.login.password}
        error={submitted === "password" && password === "" ? text.login.noPassword : undefined}
        value={password}
        onChange={setPassword}
        type="password"
        name="password"
        autoComplete="current-password"
      />
      <button type="submit" disabled={locked} aria-busy={busy}>
        {text.login.signIn}
      </button>
      <button type="button" className="second" disabled={locked} aria-busy={busy} onClick={() => send("sso")}>
        {text.login.sso.continue}
      </button>
    </form>
  );
}

interface NoticeProps {
  error: unknown;
  locked: number;
  ending: Ending | undefined;
  isSecond: boolean;
}

function Notice({ error, locked, ending, isSecond }: NoticeProps) {
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
  if (error instanceof NoPasskey) return <Box type="warning">{login.second.notUsed}</Box>;
  if (error instanceof OtherAddress)
    return (
      <Box type="warning">
        {login.sso.elsewhere} <a href={`${error.address}/login`}>{error.address}</a>
      </Box>
    );
  if (error instanceof ClientError && error.code === "NOT_FOUND") return <Box type="error">{login.sso.none}</Box>;
  if (error instanceof ClientError && error.code === "UNAUTHORIZED")
    return <Box type="error">{isSecond || isProof(error) ? login.second.wrong : login.wrong}</Box>;
  if (error !== undefined && !isLockOut(error)) {
    const { title, text: explanation } = describeError(error);
    return (
      <Box type="error" title={title}>
        {explanation}
      </Box>
    );
  }
  return ending !== undefined && <Box type={ending === "logged-out-here" ? "warning" : "info"}>{login.endings[ending]}</Box>;
}

/** Whether a passkey as the only factor was rejected. */
const isProof = ({ message }: ClientError): boolean => recognizeProblem(message)?.code === "error_proof";

/** Other errors with a time to wait, such as from a service that is down, are not lock-outs. */
const isLockOut = (error: unknown): error is ClientError => error instanceof ClientError && error.code === "RATE_LIMIT_EXCEEDED";

const clock = (seconds: number): string => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
