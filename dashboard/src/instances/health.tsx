// Whether an instance's ERP can be used, as its server last found out.
import type { Instance } from "../../../shared/api/instances.ts";
import { text } from "../messages/text.ts";
import { Status } from "../resource/words/status.tsx";
import { Time } from "../resource/words/time.tsx";
import { isFailing } from "./instance-status.tsx";

/** Returns the facts of the health for the details of the instance. */
export function healthFacts(instance: Instance) {
  const { status, since } = instance.health;
  const { label, failingSince } = text.reports.health;
  return [
    { label, value: <Status of="health" status={status} /> },
    ...(isFailing(instance) ? [{ label: failingSince, value: <Time at={since} exact /> }] : []),
  ];
}

/** Says that the service restarts the ERP; not if the server's proxy fails, or the ERP is paused. */
export function restartsInWords(instance: Instance): string | undefined {
  const failed = instance.health.checks.find(({ passed }) => passed === false);
  const helps = failed !== undefined && failed.name !== "proxy" && instance.reason?.code !== "disk_paused";
  return isFailing(instance) && helps ? text.reports.health.restarts : undefined;
}
