// Asks before something is lost: says what, and goes on only once the name is typed.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { type ReactNode, useRef, useState } from "react";
import { Failure } from "../app/failure.tsx";
import { useFocusFirst } from "./use-focus-first.ts";

interface Props {
  title: string;
  /** What has to be typed. */
  name: string;
  /** What is lost, what stays. */
  children: ReactNode;
  confirm: string;
  pending: boolean;
  error: unknown;
  onConfirm: () => void;
  onDismiss: () => void;
}

export function Confirm({ title, name, children, confirm, pending, error, onConfirm, onDismiss }: Props) {
  const [typed, setTyped] = useState("");
  const matches = typed.trim() === name.trim();
  return (
    <Modal
      visible
      header={title}
      onDismiss={onDismiss}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={onDismiss}>
              Cancel
            </Button>
            <Button variant="primary" disabled={!matches} loading={pending} onClick={onConfirm}>
              {confirm}
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <Typing onSubmit={() => matches && !pending && onConfirm()}>
        <SpaceBetween size="m">
          {error !== null && error !== undefined && <Failure error={error} resend={onConfirm} />}
          <Alert type="warning">{children}</Alert>
          <FormField label={`Type ${name} to confirm`}>
            <Input value={typed} onChange={({ detail }) => setTyped(detail.value)} autoComplete={false} spellcheck={false} />
          </FormField>
        </SpaceBetween>
      </Typing>
    </Modal>
  );
}

function Typing({ onSubmit, children }: { onSubmit: () => void; children: ReactNode }) {
  const form = useRef<HTMLFormElement>(null);
  useFocusFirst(form);
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
