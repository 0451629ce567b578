// Why a record has its status, if the service says so.
import Alert from "@cloudscape-design/components/alert";
import { SERVER_PHASES } from "../../../shared/domain/lifecycle.ts";

export function Reason({ of }: { of: { status_reason: string | null; status: string } }) {
  return (
    of.status_reason !== null && <Alert type={of.status === SERVER_PHASES.ready ? "info" : "warning"}>{of.status_reason}</Alert>
  );
}
