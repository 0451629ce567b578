// The page that an identity provider sends people back to.
import "./login.css";
import { useEffect, useState } from "react";
import { ClientError } from "../../../shared/api/client-of.ts";
import { useTitle } from "../app/title.ts";
import { describeError } from "../app/words.ts";
import { text } from "../messages/text.ts";
import { Box, Product, Support } from "./parts.tsx";
import { finishSso, NotSignedIn } from "./sso.ts";

export function SsoReturn() {
  const say = text.login.sso;
  const [error, setError] = useState<unknown>();
  useTitle(say.title);
  useEffect(() => {
    finishSso().catch(setError);
  }, []);
  return (
    <main className="login">
      <Product />
      <div role="alert">{error !== undefined && <ReturnError error={error} />}</div>
      {error === undefined && <p role="status">{say.finishing}</p>}
      <a href="/login">{text.login.back}</a>
      <Support />
    </main>
  );
}

function ReturnError({ error }: { error: unknown }) {
  const say = text.login.sso;
  if (error instanceof NotSignedIn) return <Box type="error">{say.notSignedIn}</Box>;
  if (error instanceof ClientError && error.code === "UNAUTHORIZED") return <Box type="error">{say.invalid}</Box>;
  const { title, text: explanation } = describeError(error);
  return (
    <Box type="error" title={title}>
      {explanation}
    </Box>
  );
}
