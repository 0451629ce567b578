// Asks for a fresh proof of the second factor, for a request that waits for it.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { type FormEvent, useRef, useState } from "react";
import { ClientError } from "../../../shared/api/client-of.ts";
import type { Proof } from "../../../shared/api/second-factors.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { text } from "../messages/text.ts";
import { useKeepFocus } from "../resource/dialog/dialog.tsx";
import { useFocusFirst } from "../resource/page/use-focus-first.ts";
import { askPasskey, NoPasskey } from "../app/ask-passkey.ts";
import { whyNoPasskeys } from "../session/passkeys-offered.ts";
import { type AskedProof, useOpenProof } from "../session/proof.ts";

export function ProofDialog() {
  const opened = useOpenProof();
  return opened !== undefined && <Asking {...opened} />;
}

type Given = Omit<Proof, "challenge">;

function useProof({ required, answer }: NonNullable<ReturnType<typeof useOpenProof>>) {
  const [pending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const prove = async (make: () => Promise<Given>): Promise<void> => {
    setPending(true);
    setError(undefined);
    try {
      const proof = await make();
      await client.auth.reauthenticate({ body: { ...proof, challenge: required.challenge } });
      answer("proven");
    } catch (cause) {
      setError(cause);
      if (isWrong(cause)) answer("again"); // the challenge may be used up
    } finally {
      setPending(false);
    }
  };
  const usePasskey = () => prove(async () => ({ method: "passkey", assertion: await askPasskey(required.passkey_options) }));
  return { prove, usePasskey, pending, error };
}

const isWrong = (error: unknown): boolean => error instanceof ClientError && error.code === "UNAUTHORIZED";

function Asking(opened: NonNullable<ReturnType<typeof useOpenProof>>) {
  const say = text.shell.proof;
  const { prove, usePasskey, pending, error } = useProof(opened);
  useKeepFocus();
  const { methods } = opened.required;
  const noPasskeys = whyNoPasskeys();
  return (
    <Modal
      visible
      header={say.title}
      onDismiss={({ detail }) => !pending && detail.reason !== "overlay" && opened.answer("declined")}
      footer={
        <Box float="right">
          <Button variant="link" disabled={pending} onClick={() => opened.answer("declined")}>
            {text.resource.form.cancel}
          </Button>
        </Box>
      }
    >
      <SpaceBetween size="m">
        {say.about}
        <Problem error={error} />
        {methods.includes("passkey") &&
          (noPasskeys === undefined ? (
            <Button variant="primary" loading={pending} onClick={() => void usePasskey()}>
              {say.passkey}
            </Button>
          ) : (
            <Alert type="info">{noPasskeys}</Alert>
          ))}
        <Codes methods={methods} pending={pending} onCode={(proof) => void prove(() => Promise.resolve(proof))} />
      </SpaceBetween>
    </Modal>
  );
}

function Problem({ error }: { error: unknown }) {
  const say = text.shell.proof;
  if (error === undefined) return null;
  if (!isWrong(error) && !(error instanceof NoPasskey)) return <Failure error={error} />;
  return (
    <div role="alert">
      <Alert type={isWrong(error) ? "error" : "warning"}>{isWrong(error) ? say.wrong : say.notUsed}</Alert>
    </div>
  );
}

interface CodesProps {
  methods: AskedProof["methods"];
  pending: boolean;
  onCode: (proof: Given) => void;
}

function Codes({ methods, pending, onCode }: CodesProps) {
  const say = text.shell.proof;
  const codes = methods.filter((method) => method !== "passkey");
  const [chosen, setChosen] = useState<(typeof codes)[number]>();
  const [code, setCode] = useState("");
  const form = useRef<HTMLFormElement>(null);
  useFocusFirst(form);
  const method = chosen ?? codes[0];
  const other = codes.find((each) => each !== method);
  if (method === undefined) return null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    event.stopPropagation(); // the dialog may be above a form
    if (code.trim() === "" || pending) return;
    setCode("");
    onCode({ method, code: code.replaceAll(/\s/g, "") }); // apps show a code in two groups
  };
  return (
    <form ref={form} onSubmit={submit}>
      <SpaceBetween size="m">
        <FormField label={method === "totp" ? say.code : say.recoveryCode}>
          <Input
            value={code}
            onChange={({ detail }) => setCode(detail.value)}
            autoComplete="one-time-code"
            spellcheck={false}
            name="code"
          />
        </FormField>
        <Button formAction="submit" loading={pending}>
          {say.confirm}
        </Button>
        {other !== undefined && (
          <Button variant="inline-link" formAction="none" onClick={() => setChosen(other)}>
            {other === "totp" ? say.useApp : say.useRecoveryCode}
          </Button>
        )}
      </SpaceBetween>
    </form>
  );
}
