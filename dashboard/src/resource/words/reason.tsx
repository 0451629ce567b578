// Why a record has its status, if the service says so.
import Alert from "@cloudscape-design/components/alert";
import type { ReactNode } from "react";
import { SERVER_PHASES } from "../../../../shared/domain/lifecycle.ts";
import { reasonInWords } from "./sentence.ts";

interface Props {
  of: Parameters<typeof reasonInWords>[0] & { status: string };
  /** A sentence after it. */
  more?: string | undefined;
  /** A button for what to do about it. */
  action?: ReactNode;
}

export function Reason({ of, more, action }: Props) {
  const reason = reasonInWords(of);
  return (
    reason !== null && (
      <Alert type={of.status === SERVER_PHASES.ready ? "info" : "warning"} action={action}>
        {more === undefined ? reason : `${reason}. ${more}`}
      </Alert>
    )
  );
}
