// An event for each certificate that begins to fail, as the server's report says.
import { isDeepStrictEqual } from "node:util";
import { startChange, tryCommit } from "../../data/change.ts";
import { keyString } from "../../data/keys.ts";
import { parseOrSkip } from "../../data/parse-each.ts";
import { readAll } from "../../data/table.ts";
import { CERTIFICATE_FAILING } from "../../domain/lifecycle.ts";
import { getAccount } from "../../records/accounts.ts";
import { logOutcome } from "../../records/events.ts";
import { findCertificate, hostReportRef } from "../../records/host-reports.ts";
import { instanceRef } from "../../records/instances.ts";
import type { HostReport } from "../../records/schemas/host-report.ts";
import { InstanceRecord } from "../../records/schemas/instance.ts";
import type { ServerRecord } from "../../records/schemas/server.ts";
import { HEALTH_SERVICE } from "../../records/machines.ts";

/** At most so many events are written, so that they fit into one change; the next report brings the rest. */
const EVENTS_MAX = 10;

/** Notes which certificates are failing, with an event for each that was not before. */
export async function recordCertificateEvents({ account_id, id }: ServerRecord, report: HostReport): Promise<void> {
  const at = Date.now();
  const before = report.failing_certificates;
  const candidates = Object.entries(report.certificates).filter(
    ([, { failing, expires_at }]) => failing || (expires_at !== null && Date.parse(expires_at) <= at),
  );
  if (candidates.length === 0 && before.length === 0) return;
  const keyOf = (instanceId: string) => instanceRef(account_id, instanceId).key;
  const items = await readAll(candidates.map(([instanceId]) => keyOf(instanceId)));
  const failing = candidates.flatMap(([instanceId]) => {
    const item = items.get(keyString(keyOf(instanceId)));
    const instance = item && parseOrSkip(InstanceRecord, item);
    const isFailing = instance?.server_id === id && findCertificate(instance, report, at).status === CERTIFICATE_FAILING;
    return isFailing ? [instance] : [];
  });
  const newlyFailing = failing.filter((instance) => !before.includes(instance.id)).slice(0, EVENTS_MAX);
  const after = failing
    .filter((instance) => before.includes(instance.id) || newlyFailing.includes(instance))
    .map((instance) => instance.id);
  if (isDeepStrictEqual(after, before)) return;
  const change = startChange(await getAccount(account_id));
  const { key } = hostReportRef(account_id, id);
  change.update(key, { set: { failing_certificates: after } }, { unchanged: { failing_certificates: before } });
  for (const instance of newlyFailing)
    logOutcome(
      change,
      HEALTH_SERVICE,
      { type: "certificate.failing" },
      { type: "instance", id: instance.id, name: instance.name },
    );
  await tryCommit(change); // unless another check was faster
}
