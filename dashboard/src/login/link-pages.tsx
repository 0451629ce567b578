// The pages that links in mails lead to, and the one that asks for such a link. A link's token is in the fragment of its address,
// which browsers send to no server.
import "./login.css";
import { type ComponentType, type ReactNode, useState } from "react";
import { ClientError } from "../../../shared/api/client-of.ts";
import { client } from "../app/client.ts";
import { useTitle } from "../app/title.ts";
import { describeError } from "../app/words.ts";
import { text } from "../messages/text.ts";
import { beginSession } from "../session/session.ts";
import { Box, Field, Product, Support } from "./parts.tsx";
import { SsoReturn } from "./sso-return.tsx";

const tokenInAddress = (): string => new URLSearchParams(window.location.hash.slice(1)).get("token") ?? "";

interface FieldOf {
  name: string;
  label: string;
  type: "email" | "password" | "text";
  autoComplete: string;
  hint?: string;
}

interface Props {
  words: { title: string; about: string; submit: string };
  fields: readonly FieldOf[];
  send: (values: Readonly<Record<string, string>>) => Promise<unknown>;
  /** What is said once it was sent; nothing if the page goes. */
  confirmation?: string;
}

function LinkForm({ words, fields, send, confirmation }: Props) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [state, setState] = useState<"typing" | "asked" | "sending" | "done">("typing");
  const [error, setError] = useState<unknown>();
  useTitle(words.title);
  const submit = async (): Promise<void> => {
    setState("sending");
    try {
      await send(values);
      setError(undefined);
      setState("done");
    } catch (cause) {
      setError(cause);
      setState("asked");
    }
  };
  const isMissing = ({ name }: FieldOf): boolean => (values[name] ?? "").trim() === "";
  return (
    <main className="login">
      <Product />
      <p>{words.about}</p>
      <div role="alert">
        {error !== undefined && <LinkError error={error} />}
        {state === "done" && confirmation !== undefined && <Box type="info">{confirmation}</Box>}
      </div>
      {state !== "done" && (
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            if (fields.some(isMissing)) setState("asked");
            else if (state !== "sending") void submit();
          }}
        >
          {fields.map((field, i) => (
            <Field
              key={field.name}
              {...field}
              label={field.label}
              error={state === "asked" && isMissing(field) ? text.login.links.required : undefined}
              value={values[field.name] ?? ""}
              onChange={(typed) => setValues({ ...values, [field.name]: typed })}
              autoFocus={i === 0}
            />
          ))}
          <button type="submit" aria-busy={state === "sending"}>
            {words.submit}
          </button>
        </form>
      )}
      <a href="/login">{text.login.back}</a>
      <Support />
    </main>
  );
}

function LinkError({ error }: { error: unknown }): ReactNode {
  const say = text.login.links;
  if (error instanceof ClientError && error.code === "UNAUTHORIZED") return <Box type="error">{say.invalid}</Box>;
  if (error instanceof ClientError && error.code === "CONFLICT") return <Box type="error">{say.emailTaken}</Box>;
  if (error instanceof ClientError && isOfPassword(error)) return <Box type="error">{say.passwordHint}</Box>;
  const { title, text: explanation } = describeError(error);
  return (
    <Box type="error" title={title}>
      {explanation}
    </Box>
  );
}

const isOfPassword = ({ code, details }: ClientError): boolean =>
  code === "VALIDATION_ERROR" && ["password", "new_password"].includes(String(details?.["field"]));

const newPassword = (): FieldOf => ({
  name: "password",
  label: text.login.links.newPassword,
  hint: text.login.links.passwordHint,
  type: "password",
  autoComplete: "new-password",
});

function AcceptInvitation() {
  const { accept, name } = text.login.links;
  return (
    <LinkForm
      words={accept}
      fields={[{ name: "name", label: name, type: "text", autoComplete: "name" }, newPassword()]}
      send={async ({ name: userName = "", password = "" }) => {
        const body = { token: tokenInAddress(), name: userName, password };
        beginSession((await client.auth.acceptInvitation({ body })).data);
      }}
    />
  );
}

function ForgotPassword() {
  const { forgot } = text.login.links;
  return (
    <LinkForm
      words={forgot}
      fields={[{ name: "email", label: text.login.email, type: "email", autoComplete: "username" }]}
      send={({ email = "" }) => client.auth.requestPasswordReset({ body: { email: email.trim() } })}
      confirmation={forgot.sent}
    />
  );
}

function ResetPassword() {
  const { reset } = text.login.links;
  return (
    <LinkForm
      words={reset}
      fields={[newPassword()]}
      send={({ password = "" }) =>
        client.auth.confirmPasswordReset({ body: { token: tokenInAddress(), new_password: password } })
      }
      confirmation={reset.done}
    />
  );
}

/** The pages by their paths, which mails contain or an identity provider was told. */
export const LINK_PAGES: Readonly<Record<string, ComponentType>> = {
  "/accept-invitation": AcceptInvitation,
  "/forgot-password": ForgotPassword,
  "/reset-password": ResetPassword,
  "/sso": SsoReturn,
};
