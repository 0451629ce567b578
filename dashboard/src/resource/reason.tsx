// Why a record is in its status, where the service says so.
import Alert from "@cloudscape-design/components/alert";

export function Reason({ of }: { of: { status_reason: string | null; status: string } }) {
  return of.status_reason !== null && <Alert type={of.status === "active" ? "info" : "warning"}>{of.status_reason}</Alert>;
}
