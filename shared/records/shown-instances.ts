// Instances as responses, lists and webhooks show them.
import * as z from "zod";
import type { Instance, ListedInstance, ShownInstance } from "../api/instances.ts";
import { keys, keyString, type Item } from "../data/keys.ts";
import { parseOrSkip } from "../data/parse-each.ts";
import { read, readAll } from "../data/table.ts";
import { allowedActions, serverStatus } from "../domain/lifecycle.ts";
import { findCertificate, hostReportRef } from "./host-reports.ts";
import { shownReason, statusReason } from "./reasons.ts";
import { previousDomains } from "./redirects.ts";
import type { Caller } from "./schemas/caller.ts";
import type { HostReport } from "./schemas/host-report.ts";
import type { InstanceRecord } from "./schemas/instance.ts";
import { ServerRecord } from "./schemas/server.ts";
import { serverRef } from "./servers.ts";
import { deriveHealth, reasonOfHealth } from "./shown-health.ts";
import { unicodeDomain, unicodeEmail } from "./unicode-names.ts";

function toListedInstance(
  record: InstanceRecord,
  server: Pick<ServerRecord, "state" | "operation_id"> | undefined,
): Omit<ListedInstance, "server"> {
  const { state, domain, operation_id, installed, server_ip } = record;
  // That the ERP does not respond matters more than that it uses much of the disk.
  const isOfHealth = record.status_reason === null || record.reason?.code === "disk_quota_exceeded";
  const ofHealth = isOfHealth ? reasonOfHealth(record, server) : null;
  const explanation = ofHealth === null ? record : statusReason(ofHealth);
  return {
    ...record,
    status: state,
    status_reason: explanation.status_reason,
    reason: shownReason(explanation),
    health: deriveHealth(record, server),
    url: `https://${domain}`,
    domain_unicode: unicodeDomain(domain),
    admin_email_unicode: unicodeEmail(record.admin_email),
    previous_domains: previousDomains(record, domain).map((each) => ({ ...each, domain_unicode: unicodeDomain(each.domain) })),
    allowed_actions: allowedActions({
      status: state,
      heldBy: operation_id ?? server?.operation_id ?? null,
      installed,
      server: server?.state,
    }),
    dns_record: { type: "A", name: domain, value: server_ip },
    protection: {
      status: record.protection_status,
      last_backup_at: record.last_backup_at,
      next_backup_at: record.next_backup_at,
    },
  };
}

export const toInstance = (
  record: InstanceRecord,
  server: Pick<ServerRecord, "state" | "operation_id"> | undefined,
  report?: HostReport,
): Instance => ({
  ...toListedInstance(record, server),
  certificate: findCertificate(record, report, Date.now()),
  disk_used_bytes: report?.uses[record.id]?.used_bytes ?? null,
});

/** Lists instances as `toListedInstance` does, with one call for all servers, unless `servers` are given. */
export async function toListedInstances(
  caller: Pick<Caller, "account_id" | "permissions">,
  instances: readonly InstanceRecord[],
  servers: Map<string, Item> | undefined,
): Promise<ListedInstance[]> {
  const refs = instances.map(({ server_id }) => serverRef(caller.account_id, server_id));
  const items =
    servers ??
    (await readAll(
      refs.map(({ key }) => key),
      { consistent: false },
    ));
  return instances.map((instance) => {
    const item = items.get(keyString(serverRef(caller.account_id, instance.server_id).key));
    const server = item && parseOrSkip(ServerRecord, item);
    return { ...toListedInstance(instance, server), server: visibleServer(caller, server) };
  });
}

/** One instance, as its record is now and its server was a moment ago. */
export async function showInstance(instance: InstanceRecord): Promise<Instance> {
  const { server, report } = await read(relatedRefs(instance));
  return toInstance(instance, server, report);
}

/** The few fields of a backup that are needed: its whole schema would be a thirtieth of the function. */
const Origin = z.object({ instance_id: z.string().nullable(), instance_name: z.string().nullable(), created_at: z.string() });

/** The same with its server and the backup that it was cloned from, as far as the caller may read them. */
export async function showInstanceFor(
  { permissions }: Pick<Caller, "permissions">,
  instance: InstanceRecord,
): Promise<ShownInstance> {
  const { account_id, cloned_from_backup_id: origin } = instance;
  const { server, report, backup } = await read({
    ...relatedRefs(instance),
    ...(origin !== null &&
      permissions.includes("backups:read") && {
        backup: { key: keys.record("backup", account_id, origin), schema: Origin },
      }),
  });
  return {
    ...toInstance(instance, server, report),
    server: visibleServer({ permissions }, server),
    cloned_from: backup ?? null,
  };
}

const visibleServer = ({ permissions }: Pick<Caller, "permissions">, server: ServerRecord | undefined) =>
  server !== undefined && permissions.includes("servers:read")
    ? { name: server.name, name_unicode: unicodeDomain(server.name), status: serverStatus(server.state) }
    : null;

const relatedRefs = ({ account_id, server_id }: InstanceRecord) => ({
  server: serverRef(account_id, server_id),
  report: hostReportRef(account_id, server_id),
});
