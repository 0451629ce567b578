// The second step of signing in: a passkey, a code of an app, or a recovery code.
import { useState } from "react";
import { flushSync } from "react-dom";
import type { Method } from "../../../shared/api/second-factors.ts";
import { text } from "../messages/text.ts";
import { whyNoPasskeys } from "../session/passkeys-offered.ts";
import type { AskedProof } from "../session/proof.ts";
import { Box, Field } from "./parts.tsx";

type CodeMethod = Exclude<Method, "passkey">;

interface Props {
  required: AskedProof;
  busy: boolean;
  locked: boolean;
  proveCode: (method: CodeMethod, code: string) => void;
  usePasskey: () => void;
  onBack: () => void;
}

export function SecondStep({ required: { methods }, busy, locked, proveCode, usePasskey, onBack }: Props) {
  const say = text.login.second;
  const codes = methods.filter((method): method is CodeMethod => method !== "passkey");
  const [chosen, setChosen] = useState<CodeMethod>();
  const method = chosen ?? codes[0];
  const other = codes.find((each) => each !== method);
  const noPasskeys = methods.includes("passkey") ? whyNoPasskeys() : undefined;
  const hasPasskey = methods.includes("passkey") && noPasskeys === undefined;
  return (
    <>
      <p>{say.about}</p>
      {noPasskeys !== undefined && <Box type="info">{noPasskeys}</Box>}
      {hasPasskey && (
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- it takes the place of what the user has just used
        <button type="button" autoFocus disabled={locked} aria-busy={busy} onClick={() => !busy && usePasskey()}>
          {say.passkey}
        </button>
      )}
      {method !== undefined && (
        <CodeForm
          key={method}
          label={method === "totp" ? say.code : say.recoveryCode}
          busy={busy}
          locked={locked}
          autoFocus={!hasPasskey || chosen !== undefined}
          onCode={(code) => proveCode(method, code)}
        />
      )}
      {other !== undefined && (
        <button type="button" className="link" onClick={() => setChosen(other)}>
          {other === "totp" ? say.useApp : say.useRecoveryCode}
        </button>
      )}
      <p>{say.lost}</p>
      <button type="button" className="link" onClick={onBack}>
        {say.back}
      </button>
    </>
  );
}

interface CodeFormProps {
  label: string;
  busy: boolean;
  locked: boolean;
  autoFocus: boolean;
  onCode: (code: string) => void;
}

function CodeForm({ label, busy, locked, autoFocus, onCode }: CodeFormProps) {
  const say = text.login.second;
  const [code, setCode] = useState("");
  const [isSubmitted, setIsSubmitted] = useState(false);
  const missing = isSubmitted && code.trim() === "";
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        flushSync(() => setIsSubmitted(true));
        if (code.trim() === "") event.currentTarget.querySelector("input")?.focus();
        else if (!busy && !locked) onCode(code.replaceAll(/\s/g, "")); // apps show a code in two groups
      }}
    >
      <Field
        label={label}
        error={missing ? say.noCode : undefined}
        value={code}
        onChange={setCode}
        type="text"
        name="code"
        autoComplete="one-time-code"
        autoFocus={autoFocus}
      />
      <button type="submit" disabled={locked} aria-busy={busy}>
        {say.confirm}
      </button>
    </form>
  );
}
