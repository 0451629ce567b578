// Whether an instance's ERP can be used, as its server last found out.
import type { Instance } from "../../../shared/api/instances.ts";
import { text } from "../messages/text.ts";
import { Status } from "../resource/status.tsx";
import { Time } from "../resource/time.tsx";
import { isFailing } from "./instance-status.tsx";

/** For the details of the instance. */
export function healthFacts(instance: Instance) {
  const { status, since } = instance.health;
  const { label, failingSince } = text.reports.health;
  return [
    { label, value: <Status of="health" status={status} /> },
    ...(isFailing(instance) ? [{ label: failingSince, value: <Time at={since} exact /> }] : []),
  ];
}

/** Why it has its status; a check that a newer service makes has only the API's words. */
export function reasonOf(instance: Instance): string | null {
  const failed = instance.health.checks.find(({ passed }) => passed === false);
  const known: Readonly<Record<string, string>> = text.reports.health.faults;
  return (failed !== undefined && isFailing(instance) ? known[failed.name] : undefined) ?? instance.status_reason;
}
