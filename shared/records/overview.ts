// How much there is of everything, by status: counts that every change keeps, so that pages can ask for them all the time.
import type { Overview } from "../api/overview.ts";
import { BACKUP_STATUSES, INSTANCE_STATUSES, OPEN_STATUSES, PROTECTION_STATUSES, SERVER_STATUSES } from "../domain/lifecycle.ts";
import { alertTotal, diskTotal, revisionAttribute, type ShownCount } from "../data/counters.ts";
import { type ListKind, protectionFilter, type Revised } from "../data/keys.ts";
import { overviewCounts } from "../data/overview-shards.ts";
import { type Caller, roleIn } from "./schemas/caller.ts";

const READING = ["servers:read", "instances:read", "backups:read"] as const;

/** What the caller may read of it. */
export async function overviewFor(caller: Caller): Promise<Overview> {
  const { account_id, permissions } = caller;
  const totals = await overviewCounts(account_id);
  const counts = <S extends string>(kind: ListKind, statuses: readonly S[], filter = (status: string) => status) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- entries lose the names of the statuses
    Object.fromEntries(statuses.map((status) => [status, totals[`${kind}#${filter(status)}`] ?? 0])) as Record<S, number>;
  const section = <S extends string>(kind: ListKind, statuses: readonly S[]) => {
    const status = counts(kind, statuses);
    return { total: Object.values<number>(status).reduce((total, count) => total + count, 0), status };
  };
  const revision = (kind: Revised | "others"): number => totals[revisionAttribute(kind)] ?? 0;
  const countOf = (name: ShownCount): number => totals[name] ?? 0;
  const openAlerts = (type: string | false | undefined): number => (type && totals[alertTotal(type)]) || 0;
  const [servers, instances, backups] = READING.map((permission) => permissions.includes(permission));
  return {
    ...(servers && {
      servers: { ...section("server", SERVER_STATUSES), low_disk: lowDisksIn(totals), needs_reboot: countOf("needs_reboot") },
    }),
    ...(instances && {
      instances: {
        ...section("instance", INSTANCE_STATUSES),
        protection: counts("instance", PROTECTION_STATUSES, protectionFilter),
        update_available: countOf("update_available"),
      },
    }),
    ...(backups && { backups: section("backup", BACKUP_STATUSES) }),
    ...(servers && instances && backups && { operations: counts("operation", OPEN_STATUSES) }),
    ...(permissions.includes("settings:read") && {
      alerts: { open: openAlerts(servers && "server") + openAlerts(instances && "instance") },
    }),
    role: roleIn(caller) ?? null,
    permissions,
    revision: totals["revision"] ?? 0,
    revisions: {
      ...(servers && { servers: revision("server"), ssh_keys: revision("ssh_key") }),
      ...(instances && { instances: revision("instance") }),
      ...(backups && { backups: revision("backup"), policies: revision("backup_policy") }),
      ...(servers && instances && backups && { operations: revision("operation") }),
      users: revision("user"),
      invitations: revision("invitation"),
      sessions: revision("session"),
      others: revision("others"),
    },
  };
}

const lowDisksIn = (totals: Readonly<Record<string, number>>): NonNullable<Overview["servers"]>["low_disk"] => ({
  below_15_percent: totals[diskTotal(15)] ?? 0,
  below_5_percent: totals[diskTotal(5)] ?? 0,
});
