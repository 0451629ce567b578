// The sign-in page.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Navigate, useLocation } from "react-router";
import { ClientError } from "../../../shared/api/client.ts";
import { client } from "../app/client.ts";
import { PRODUCT, useTitle } from "../app/title.ts";
import { wordsOf } from "../app/words.ts";
import { useCountdown } from "../session/countdown.ts";
import { beginSession, type Ending, useEnding, useSession } from "../session/session.ts";

const ENDINGS: Record<Ending, string> = {
  "logged-out": "You've signed out.",
  "logged-out-here":
    "You've signed out in this browser. We couldn't reach the service, so your session will expire there within 12 hours.",
  ended: "Your session ended. Sign in to pick up where you left off.",
  expired: "Your session expired. Sign in to pick up where you left off.",
};

export default function Login() {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [asked, setAsked] = useState(false);
  const session = useSession();
  const ending = useEnding();
  const from = useFrom();
  const login = useMutation({
    mutationFn: () => client.auth.login({ body: { email: email.trim(), password } }),
    onSuccess: ({ data }) => beginSession(data),
  });
  const locked = useCountdown(isLockOut(login.error) ? login.error.retryAfter : undefined, login.failureCount);
  useTitle("Sign in");
  if (session !== undefined) return <Navigate to={from} replace />;
  const missing = (value: string, what: string) => (asked && value === "" ? `Enter your ${what}.` : undefined);
  return (
    <main className="login">
      <SpaceBetween size="l">
        <Box variant="h1" textAlign="center">
          {PRODUCT}
        </Box>
        <div role="alert" aria-atomic="false">
          <Notice error={login.error} locked={locked} ending={ending} />
        </div>
        <Container>
          <form
            noValidate
            onSubmit={(event) => {
              event.preventDefault();
              setAsked(true);
              if (email !== "" && password !== "" && !login.isPending && locked === 0) login.mutate();
            }}
          >
            <SpaceBetween size="l">
              <EmailField
                value={email}
                error={missing(email, "email")}
                onChange={(typed) => {
                  setEmail(typed);
                  login.reset(); // the earlier error, even a lock-out, belongs to the other email
                }}
              />
              <PasswordField value={password} error={missing(password, "password")} onChange={setPassword} />
              <Button variant="primary" fullWidth formAction="submit" loading={login.isPending} disabled={locked > 0}>
                Sign in
              </Button>
            </SpaceBetween>
          </form>
        </Container>
      </SpaceBetween>
    </main>
  );
}

interface FieldProps {
  value: string;
  error: string | undefined;
  onChange: (typed: string) => void;
}

const EmailField = ({ value, error, onChange }: FieldProps) => (
  <FormField label="Email" errorText={error}>
    <Input
      value={value}
      onChange={({ detail }) => onChange(detail.value)}
      type="email"
      inputMode="email"
      name="email"
      autoComplete="username"
      autoFocus
    />
  </FormField>
);

const PasswordField = ({ value, error, onChange }: FieldProps) => (
  <FormField label="Password" errorText={error}>
    <Input
      value={value}
      onChange={({ detail }) => onChange(detail.value)}
      type="password"
      name="password"
      autoComplete="current-password"
    />
  </FormField>
);

function Notice({ error, locked, ending }: { error: unknown; locked: number; ending: Ending | undefined }) {
  if (locked > 0)
    return (
      <Alert type="warning" header="Too many failed attempts">
        You can try again in{" "}
        <span role="timer" aria-live="off">
          {clock(locked)}
        </span>
        .
      </Alert>
    );
  if (error instanceof ClientError && error.code === "UNAUTHORIZED")
    return <Alert type="error">Incorrect email or password.</Alert>;
  if (error !== null && !isLockOut(error)) {
    const { title, text } = wordsOf(error);
    return (
      <Alert type="error" header={title}>
        {text}
      </Alert>
    );
  }
  return ending !== undefined && <Alert type={ending === "logged-out-here" ? "warning" : "info"}>{ENDINGS[ending]}</Alert>;
}

/** Other errors with a time to wait, such as from a service that is down, are not lock-outs. */
const isLockOut = (error: unknown): error is ClientError => error instanceof ClientError && error.code === "RATE_LIMIT_EXCEEDED";

const clock = (seconds: number): string => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

/** Rejects `//example.com`, which a browser takes for another host. */
const isOurs = (path: string): boolean =>
  path.startsWith("/") && URL.parse(path, window.location.origin)?.origin === window.location.origin;

/** The page to return to, if it is one of ours. */
function useFrom(): string {
  const { state } = useLocation();
  const from: unknown = typeof state === "object" && state !== null && "from" in state ? state.from : undefined;
  return typeof from === "string" && isOurs(from) ? from : "/";
}
