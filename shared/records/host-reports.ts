// What the machines of servers report about themselves: free disk space and memory, and the certificates of their instances.
import type { Certificate } from "../api/instances.ts";
import { CERTIFICATE_FAILING, CERTIFICATE_PENDING, HEALTH, OPERATION, WATCHED } from "../domain/lifecycle.ts";
import { now } from "../data/change.ts";
import { keys, keyString } from "../data/keys.ts";
import { newestChildren } from "../data/child-lists.ts";
import { HostReport, type ReportedCertificate, type ReportedUse } from "./schemas/host-report.ts";
import type { InstanceRecord } from "./schemas/instance.ts";
import { OperationRecord } from "./schemas/operation.ts";
import type { ServerRecord } from "./schemas/server.ts";
import { ConditionFailed, readAll, type Ref, transact, updateOne } from "../data/table.ts";
import { check, update } from "../data/writes.ts";

/** What a machine found out about itself. */
export interface MachineReport {
  disk_free_bytes: number;
  memory_free_bytes: number;
  /** Undefined of a script of before it was reported. */
  disk_size_bytes?: number | undefined;
  needs_reboot?: boolean | undefined;
  /** What the instances use of the disk, as far as it was measured. */
  uses?: readonly (ReportedUse & { instance_id: string })[] | undefined;
  /** Undefined if its proxy did not respond. */
  certificates: readonly (ReportedCertificate & { instance_id: string })[] | undefined;
}

export const hostReportRef = (accountId: string, serverId: string): Ref<HostReport> => ({
  key: keys.hostReport(accountId, serverId),
  schema: HostReport,
});

/**
 * A machine's root may be hostile, and may report more instances than there are, for each of which its account would have more
 * read and written. Those that were deleted without the machine's help are still on it.
 */
const LEFTOVERS_MAX = 50;

/** Records a report, and returns what is recorded. Undefined if a later one is recorded already, or the server was deleted. */
export async function recordReport(
  server: ServerRecord,
  { certificates, uses, ...free }: MachineReport,
): Promise<HostReport | undefined> {
  const { account_id, id, instances } = server;
  const key = keys.hostReport(account_id, id);
  const reported_at = now();
  const believed = certificates?.slice(0, instances + LEFTOVERS_MAX);
  const set = {
    ...free,
    reported_at,
    ...(uses !== undefined && {
      uses: Object.fromEntries(uses.slice(0, instances + LEFTOVERS_MAX).map(({ instance_id, ...use }) => [instance_id, use])),
    }),
    ...(believed !== undefined && {
      certificates: Object.fromEntries(believed.map(({ instance_id, ...certificate }) => [instance_id, certificate])),
      certificates_at: reported_at,
    }),
  };
  const { done, item } = await updateOne(key, { set }, { below: { reported_at } });
  if (item !== undefined) return done ? HostReport.parse(item) : undefined;
  // The server's first report. It is removed with the server, and must not come back.
  try {
    await transact([
      check(keys.record("server", account_id, id), { oneOf: { state: WATCHED } }),
      update(key, { set }, { exists: false, below: { reported_at } }),
    ]);
    return HostReport.parse(set);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error; // deleted meanwhile, or another run was faster
    return undefined;
  }
}

/**
 * The instances that were deleted while the machine did not respond, and whose ERPs are still on it. Any other without a record
 * stays where it is: the table may have been restored to an earlier time.
 */
export async function leftoversOn(server: ServerRecord, { certificates = [] }: MachineReport): Promise<string[]> {
  const { account_id, instances, state } = server;
  // While a server responds, its deletions do not leave any: to look for them only then, or if there are too many, saves reads.
  if (state === HEALTH.responds && certificates.length <= instances) return [];
  const reported = certificates.slice(0, instances + LEFTOVERS_MAX).map(({ instance_id }) => instance_id);
  const instanceKey = (id: string) => keys.record("instance", account_id, id);
  const existing = await readAll(reported.map(instanceKey));
  const unknown = reported.filter((id) => !existing.has(keyString(instanceKey(id))));
  const deleted = await Promise.all(unknown.map((id) => wasDeletedWithout(account_id, id)));
  return unknown.filter((_, index) => deleted[index]);
}

/** How far back the deletion is looked for: drills and clones of its backups may be newer. */
const LOOK_BACK = 100;

async function wasDeletedWithout(accountId: string, instanceId: string): Promise<boolean> {
  const newest = await newestChildren({ kind: "operation", accountId, schema: OperationRecord }, instanceId, LOOK_BACK);
  return newest.some(
    ({ type, state, result }) => type === "instance.delete" && state === OPERATION.succeeded && result?.host_skipped === true,
  );
}

/** What is shown of an instance's certificate. One that was reported for the domain before the present one does not count. */
export function findCertificate(
  { id, domain }: Pick<InstanceRecord, "id" | "domain">,
  report: HostReport | undefined,
  at: number,
): Certificate {
  const certificate = report?.certificates[id];
  if (report === undefined || certificate?.domain !== domain)
    return { status: CERTIFICATE_PENDING, expires_at: null, checked_at: null };
  const { expires_at, failing } = certificate;
  const isExpired = expires_at !== null && Date.parse(expires_at) <= at;
  const status = failing || isExpired ? CERTIFICATE_FAILING : expires_at === null ? CERTIFICATE_PENDING : "valid";
  return { status, expires_at, checked_at: report.certificates_at };
}
