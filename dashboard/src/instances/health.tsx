// Whether an instance's ERP can be used, as its server last found out.
import type { Instance, ListedInstance } from "../../../shared/api/instances.ts";
import { HEALTH_OF_ERP } from "../../../shared/domain/lifecycle.ts";
import { text } from "../messages/text.ts";
import { Status } from "../resource/status.tsx";
import { Time } from "../resource/time.tsx";

const isFailing = ({ health }: ListedInstance): boolean => health.status === HEALTH_OF_ERP.failing;

/** For the details of the instance. */
export function healthFacts(instance: Instance) {
  const { status, since } = instance.health;
  const { label, failingSince } = text.reports.health;
  return [
    { label, value: <Status of="health" status={status} /> },
    ...(isFailing(instance) ? [{ label: failingSince, value: <Time at={since} exact /> }] : []),
  ];
}

/** Of an instance that runs, and whose ERP cannot be used, that is what matters. */
export const InstanceStatus = ({ of }: { of: ListedInstance }) =>
  isFailing(of) ? <Status of="health" status={of.health.status} /> : <Status of="instance" status={of.status} />;

/** Why it has its status; a check that a newer service makes has only the API's words. */
export function reasonOf(instance: Instance): string | null {
  const failed = instance.health.checks.find(({ passed }) => passed === false);
  const known: Readonly<Record<string, string>> = text.reports.health.faults;
  return (failed !== undefined && isFailing(instance) ? known[failed.name] : undefined) ?? instance.status_reason;
}
