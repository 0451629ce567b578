// Why a record has its status, if the service says so.
import Alert from "@cloudscape-design/components/alert";
import type { ReactNode } from "react";
import { SERVER_PHASES } from "../../../shared/domain/lifecycle.ts";

interface Props {
  of: { status_reason: string | null; status: string };
  /** A button for what to do about it. */
  action?: ReactNode;
}

export function Reason({ of: { status, status_reason }, action }: Props) {
  return (
    status_reason !== null && (
      <Alert type={status === SERVER_PHASES.ready ? "info" : "warning"} action={action}>
        {status_reason}
      </Alert>
    )
  );
}
