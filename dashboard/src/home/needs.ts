// What needs a person: failures that nothing has mended, servers that are offline or full, overdue backups, and other alerts,
// those of failed restore drills first: the service closes these by itself once a drill passes.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Alert } from "../../../shared/api/alerts.ts";
import type { Token } from "../../../shared/api/tokens.ts";
import { ALERT, type AlertKind } from "../../../shared/domain/alerts.ts";
import { DAY_MS } from "../../../shared/domain/durations.ts";
import { SERVER_PHASES } from "../../../shared/domain/lifecycle.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import { DISK_STEPS } from "../../../shared/domain/low-disk.ts";
import { needsOf, useMay } from "../app/may.tsx";
import { alerts, events, instances, type QueryMeta, servers, tokens } from "../app/queries.ts";
import { serviceNow } from "../session/clock.ts";
import { lowDiskOf } from "../servers/reported.tsx";
import { SHOWN, useFailures } from "./failures.ts";
import { unlistedAlerts } from "./unlisted-alerts.ts";
import type { Tallies } from "./use-tally.ts";

/** The number of days before an API key expires: the default of its first `token.expiring` event. */
const EXPIRING_DAYS = 14;

/** Rotated keys are left out: they are meant to expire. */
const expiresSoon = ({ expires_at, replaced_by }: Token): boolean => {
  const remainingMs = Date.parse(expires_at ?? "") - serviceNow();
  return replaced_by === null && remainingMs > 0 && remainingMs < EXPIRING_DAYS * DAY_MS;
};

/** Returns when the server's disk fell below the lowest of the alerts' steps that it is below; null without such an alert. */
const lowSince = (open: readonly Alert[], serverId: string): string | null =>
  open
    .filter(({ kind, resource }) => kind === ("disk_free" satisfies AlertKind) && resource.id === serverId)
    .toSorted((a, b) => (a.threshold ?? 0) - (b.threshold ?? 0))[0]?.opened_at ?? null;

/** Again only for others: what the log says of these has happened. */
function becameOverdue(ids: readonly string[]) {
  const { queryKey, queryFn } = events.list({ type: "instance.overdue", per_page: PER_PAGE_MAX });
  return { queryKey: [...queryKey, ids], queryFn, meta: { changedBy: [] } satisfies QueryMeta };
}

/** One request if nothing is wrong, two for owners and admins, and a few more for what is. */
export function useNeeds({ servers: counted, lowDisks, protection, openAlerts }: Tallies) {
  const may = useMay();
  const { queries: ofFailures, failures } = useFailures();
  const offline = SERVER_PHASES.unreachable;
  const bad = { offline: counted.count(offline), low: Object.values(lowDisks).reduce((sum, count) => sum + count, 0) };
  const machines = useQuery({
    ...servers.bad(bad, (server) => lowDiskOf(server) !== null),
    enabled: bad.offline + bad.low > 0,
  });
  const overdue = useQuery({
    ...instances.list({ protection: "overdue", per_page: SHOWN }),
    enabled: (protection?.overdue ?? 0) > 0,
  });
  const open = useQuery({ ...alerts.list({ status: ALERT.open, per_page: PER_PAGE_MAX }), enabled: openAlerts > 0 });
  const keys = useQuery({ ...tokens.list({ per_page: PER_PAGE_MAX }), enabled: may("admin") });
  const loadedAlerts = openAlerts > 0 ? (open.data?.data ?? []) : [];
  const late = overdue.data?.data ?? [];
  const alerted = new Map(
    loadedAlerts
      .filter(({ kind }) => kind === ("backup_overdue" satisfies AlertKind))
      .map(({ resource, opened_at }) => [resource.id, opened_at] as const),
  );
  // The audit log says it, too, where an account has turned the alert off, or had it not yet when the instance became overdue.
  const unalerted = late.map(({ id }) => id).filter((id) => !alerted.has(id));
  const became = useQuery({
    ...becameOverdue(unalerted),
    enabled: !open.isLoading && unalerted.length > 0 && may(...needsOf("/activity")),
    placeholderData: keepPreviousData,
  });
  const queries = [...ofFailures, machines, overdue, open, keys, became];
  const becameAt = (id: string): string | undefined => became.data?.data.find(({ resource }) => resource.id === id)?.created_at;
  const listed = machines.data?.data ?? [];
  const unreachable = listed.filter(({ status }) => status === offline);
  const low = listed
    .flatMap((server) => {
      const step = lowDiskOf(server);
      return step === null ? [] : [{ server, isAlmostFull: step === DISK_STEPS[1], since: lowSince(loadedAlerts, server.id) }];
    })
    .toSorted((a, b) => Number(b.isAlmostFull) - Number(a.isAlmostFull));
  const listedElsewhere = {
    offline: new Set(unreachable.map(({ id }) => id)),
    lowDisks: new Set(low.map(({ server }) => server.id)),
  };
  return {
    error: queries.find(({ error }) => error !== null)?.error ?? null,
    retry: () => void Promise.all(queries.filter(({ isError }) => isError).map(({ refetch }) => refetch())),
    isPending: queries.some(({ isLoading }) => isLoading),
    failures,
    drills: loadedAlerts.filter(({ kind }) => kind === ("drill_failed" satisfies AlertKind)),
    offline: unreachable,
    lowDisks: low,
    overdue: late.map((instance) => ({ instance, since: alerted.get(instance.id) ?? becameAt(instance.id) ?? null })),
    // Alerts are listed once it is known which of them are listed elsewhere.
    alerts: machines.isLoading ? [] : unlistedAlerts(loadedAlerts, listedElsewhere),
    expiring: (keys.data?.data ?? []).filter(expiresSoon),
  };
}
