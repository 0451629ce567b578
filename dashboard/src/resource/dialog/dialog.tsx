// A dialog with its content, its error, and two buttons.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { type ReactNode, useEffect } from "react";
import type { Send } from "../../app/client.ts";
import { Failure } from "../../app/failure.tsx";
import { text } from "../../messages/text.ts";
import { ApiCall } from "./api-call.tsx";
import { DANGER } from "./danger.ts";

interface DialogProps {
  title: string;
  children: ReactNode;
  confirm: string;
  /** What it confirms cannot be undone. */
  destructive?: boolean;
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
export function Dialog(props: DialogProps) {
  const { title, children, confirm, destructive = false, disabled = false, pending, error, send, onConfirm, onDismiss } = props;
  useKeepFocus();
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
            <Button
              variant="primary"
              disabled={disabled}
              loading={pending}
              onClick={onConfirm}
              {...(destructive && !disabled && { style: DANGER })}
            >
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

/** A click beside a dialog that stays open leaves the focus in it, so that Escape still works. */
export function useKeepFocus(): void {
  useEffect(() => {
    document.addEventListener("mousedown", keepFocus);
    return () => document.removeEventListener("mousedown", keepFocus);
  }, []);
}

/** The focus returns rather than stays: losing it is what closes an open list of options. */
function keepFocus({ target }: MouseEvent): void {
  // The dialog covers the page; what the user sees of it is a box inside.
  if (!(target instanceof Element && target.matches('[role="dialog"]'))) return;
  const find = (selector: string) => target.querySelector<HTMLElement>(selector);
  const next = find('[aria-haspopup][aria-expanded="true"]') ?? find(":focus") ?? find("button");
  setTimeout(() => next?.focus());
}
