// A dialog with its content, its error, and two buttons.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { ReactNode } from "react";
import type { Send } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { text } from "../messages/text.ts";
import { ApiCall } from "./api-call.tsx";

interface DialogProps {
  title: string;
  children: ReactNode;
  confirm: string;
  /** Whether the confirm button is disabled. */
  disabled?: boolean;
  pending: boolean;
  error: unknown;
  /** What confirming sends. */
  send: Send;
  onConfirm: () => void;
  onDismiss: () => void;
}

/** It stays while its request is pending, which nothing can call back, and a click beside it does not discard what was typed. */
export function Dialog({ title, children, confirm, disabled = false, pending, error, send, onConfirm, onDismiss }: DialogProps) {
  return (
    <Modal
      visible
      header={title}
      onDismiss={({ detail }) => !pending && detail.reason !== "overlay" && onDismiss()}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" disabled={pending} onClick={onDismiss}>
              {text.resource.form.cancel}
            </Button>
            <Button variant="primary" disabled={disabled} loading={pending} onClick={onConfirm}>
              {confirm}
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        {error !== null && error !== undefined && <Failure error={error} resend={onConfirm} />}
        {children}
        <ApiCall send={send} />
      </SpaceBetween>
    </Modal>
  );
}
