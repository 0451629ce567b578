// The open alerts that the home page does not say elsewhere.
import type { Alert } from "../../../shared/api/alerts.ts";
import type { AlertKind } from "../../../shared/domain/alerts.ts";

/** The page lists these itself, each with the button that mends it. */
const LISTED: readonly string[] = ["backup_overdue", "drill_failed", "operation_failed"] satisfies AlertKind[];

/** The IDs of the servers that the page says to be offline, or to have little disk space. */
interface ListedElsewhere {
  offline: ReadonlySet<string>;
  lowDisks: ReadonlySet<string>;
}

/** One of each kind and resource: of several steps the lowest, which is the worst of free disk space and memory. */
export function unlistedAlerts(open: readonly Alert[], { offline, lowDisks }: ListedElsewhere): Alert[] {
  const isListedElsewhere = ({ kind, resource: { id } }: Alert): boolean =>
    LISTED.includes(kind) || (kind === "down" && offline.has(id)) || (kind === "disk_free" && lowDisks.has(id));
  const worst = new Map<string, Alert>();
  for (const alert of open.filter((each) => !isListedElsewhere(each))) {
    const fact = `${alert.kind} ${alert.resource.id}`;
    if ((alert.threshold ?? 0) < (worst.get(fact)?.threshold ?? Infinity)) worst.set(fact, alert);
  }
  return [...worst.values()].toSorted((a, b) => (a.opened_at < b.opened_at ? 1 : -1));
}
