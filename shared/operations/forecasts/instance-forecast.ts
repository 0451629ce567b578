// What the creation, a change, an action and the deletion of an instance would do, for their dry runs.
import type { PolicyFields } from "../../api/backup-policy.ts";
import type { Effect, Forecast } from "../../api/dry-run.ts";
import { find } from "../../data/table.ts";
import { SERVING, USABLE } from "../../domain/lifecycle.ts";
import { REDIRECT_DAYS } from "../../domain/limits.ts";
import type { Parameters } from "../../domain/sentences.ts";
import { changesBetween } from "../../records/audit-changes.ts";
import { policyRef } from "../../records/policies.ts";
import { redirectsEndedBy } from "../../records/redirects.ts";
import type { PolicyRecord } from "../../records/schemas/backup-policy.ts";
import type { InstanceRecord, InstanceUpdate } from "../../records/schemas/instance.ts";
import { sentFields } from "../../records/sent-fields.ts";
import type { ServerRecord } from "../../records/schemas/server.ts";
import { serverRef } from "../../records/servers.ts";
import { waitingBackup } from "../backups/begin-backup.ts";
import { effect, forecast, INSTANCE, mayRead, NEW_BACKUP, NEW_INSTANCE, type Reader, sentence } from "./forecast.ts";
import { durationOfLast, newestBackup, someCompleted } from "./earlier-operations.ts";
import { effectsOfFirst, effectsOnWaiting } from "./policy-forecast.ts";
import { diskWarnings, memoryWarnings } from "./room-forecast.ts";

/** Forecasts a new instance with this policy. */
export async function forecastCreation(
  reader: Reader,
  { account_id, ...instance }: InstanceRecord,
  policy: PolicyFields | null,
): Promise<Forecast> {
  const { erp_version, edition, server_id, database_name, domain } = instance;
  return forecast(
    [
      effect("create", NEW_INSTANCE, "erp_installed", { erp_version, edition, server_id, database_name, domain }),
      ...effectsOfFirst(policy),
    ],
    {
      disk_bytes: null,
      warnings: [
        ...(await diskWarnings(reader, account_id, server_id, 0)),
        ...(await memoryWarnings(reader, account_id, server_id)),
      ],
    },
  );
}

/** Adds to a forecast that the other instance, if there is one, no longer redirects the domain that the work takes. */
export const alsoEndsRedirect = (
  reader: Reader,
  planned: Forecast,
  { domain, of }: { domain: string; of: string | undefined },
): Forecast => {
  if (of === undefined) return planned;
  const resource = { type: INSTANCE, id: mayRead(reader, "instance") ? of : null };
  return { ...planned, effects: [...planned.effects, effect("update", resource, "redirect_ended", { domain })] };
};

export async function forecastAction(
  reader: Reader,
  instance: InstanceRecord,
  action: "start" | "stop" | "restart" | "backup",
): Promise<Forecast> {
  const serves = SERVING.includes(instance.state);
  const resource = { type: INSTANCE, id: instance.id };
  switch (action) {
    case "start":
      return forecast([effect("start", resource, "erp_started")]);
    case "stop":
      return forecast([effect("stop", resource, "erp_stopped")], {
        downtime_seconds: null,
      });
    case "restart":
      return forecast([effect("restart", resource, "erp_restarted")], {
        downtime_seconds: !serves ? 0 : mayRead(reader, "instance") ? await durationOfLast(instance, "instance.restart") : null,
      });
    case "backup": {
      const newest = mayRead(reader, "backup") ? await newestBackup(instance) : undefined;
      const disk_bytes = newest?.size_bytes ?? null;
      return forecast([effect("create", NEW_BACKUP, "backup_taken")], {
        disk_bytes,
        warnings: await diskWarnings(reader, instance.account_id, instance.server_id, disk_bytes ?? 0),
      });
    }
    default:
      throw new Error(`No such action: ${String(action satisfies never)}`);
  }
}

export function forecastUpdate(reader: Reader, instance: InstanceRecord, update: InstanceUpdate): Forecast {
  const resource = { type: INSTANCE, id: instance.id };
  const knowsOld = mayRead(reader, "instance");
  const updated = { ...instance, ...sentFields(update) };
  const values = (field: "name" | "admin_email" | "domain"): Parameters =>
    knowsOld ? { before: instance[field], after: updated[field] } : { after: updated[field] };
  const quota = updated.disk_quota_bytes;
  const effectOf: Record<keyof InstanceUpdate, () => Effect> = {
    name: () => effect("update", resource, knowsOld ? "name_changed" : "name_set", values("name")),
    admin_email: () => effect("update", resource, knowsOld ? "admin_email_changed" : "admin_email_set", values("admin_email")),
    domain: () => effect("update", resource, knowsOld ? "domain_changed" : "domain_set", values("domain")),
    labels: () => effect("update", resource, "labels_changed"),
    disk_quota_bytes: () =>
      quota === null
        ? effect("update", resource, "disk_quota_removed")
        : effect("update", resource, "disk_quota_set", { quota_bytes: quota }),
  };
  const changed = changesBetween(instance, updated, Object.keys(effectOf)).map(({ field }) => field);
  const effects = Object.entries(effectOf).flatMap(([field, describe]) => (changed.includes(field) ? [describe()] : []));
  if (knowsOld && update.domain !== undefined)
    for (const domain of redirectsEndedBy(instance, update.domain))
      effects.push(effect("update", resource, "redirect_ended", { domain }));
  return forecast(effects.length === 0 ? [effect("update", resource, "nothing_changed")] : effects, {
    warnings: changed.includes("domain")
      ? [sentence(knowsOld ? "domain_redirects" : "old_domain_redirects", { ...values("domain"), days: REDIRECT_DAYS })]
      : [],
  });
}

export async function forecastInstanceDeletion(reader: Reader, instance: InstanceRecord): Promise<Forecast> {
  const { account_id, id, server_id } = instance;
  const [server, completed, policy] = await Promise.all([
    find(serverRef(account_id, server_id)),
    someCompleted(account_id, id),
    find(policyRef(account_id, id)),
  ]);
  return forecast(await effectsOfDeletion(reader, instance, { server, policy }), {
    downtime_seconds: SERVING.includes(instance.state) ? null : 0,
    warnings: !mayRead(reader, "backup")
      ? [sentence("unsaved_not_recoverable")]
      : completed.length === 0
        ? [sentence("no_backup_left")]
        : [],
  });
}

/** What goes with an instance, of which there is this. */
export async function effectsOfDeletion(
  reader: Reader,
  { id }: InstanceRecord,
  { server, policy }: { server: Pick<ServerRecord, "state"> | undefined; policy: PolicyRecord | undefined },
): Promise<Effect[]> {
  const reachable = server !== undefined && USABLE.includes(server.state);
  return [
    effect("delete", { type: INSTANCE, id }, reachable || !mayRead(reader, "server") ? "erp_deleted" : "erp_deleted_later"),
    ...(policy === undefined || !mayRead(reader, "backup")
      ? []
      : [effect("delete", { type: "backup_policy", id }, "policy_deleted")]),
    ...effectsOnWaiting(reader, await waitingBackup(policy)),
  ];
}
