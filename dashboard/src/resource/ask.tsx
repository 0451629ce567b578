// Asks before something is done that cannot be undone; for what many things hang on, `Confirm` asks for its name too.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { ReactNode } from "react";
import { Failure } from "../app/failure.tsx";

interface Props {
  title: string;
  /** What is lost, what stays. */
  children: ReactNode;
  confirm: string;
  pending: boolean;
  error: unknown;
  onConfirm: () => void;
  onDismiss: () => void;
}

export function Ask({ title, children, confirm, pending, error, onConfirm, onDismiss }: Props) {
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
            <Button variant="primary" loading={pending} onClick={onConfirm}>
              {confirm}
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        {error !== null && error !== undefined && <Failure error={error} resend={onConfirm} />}
        <Alert type="warning">{children}</Alert>
      </SpaceBetween>
    </Modal>
  );
}
