// Opens and closes alerts. Whatever finds something out says what it has found; here it is compared with the account's settings
// and with what is open. Each alert is a change of its own, which another check may have made first.
import { type Change, startChange, tryCommit } from "../../data/change.ts";
import { find } from "../../data/table.ts";
import {
  type AlertKind,
  type AlertResource,
  type AlertSettings,
  isAlertKind,
  isBeyond,
  listThresholds,
} from "../../domain/alerts.ts";
import { log } from "../../platform/log.ts";
import { accountRef, getAccount } from "../../records/accounts.ts";
import { alertRef, alertSettings, closeAlert, type NewAlert, openAlert, openAlerts } from "../../records/alerts.ts";
import type { OpenAlert } from "../../records/schemas/alert.ts";

/** What an account's checks are compared with. */
export interface AccountAlerts {
  accountId: string;
  settings: AlertSettings;
  open: OpenAlert[];
}

export async function readAlerts(accountId: string): Promise<AccountAlerts> {
  const [account, open] = await Promise.all([find(accountRef(accountId)), openAlerts(accountId)]);
  // A server whose account cannot be found is still checked.
  return { accountId, settings: alertSettings(account ?? { alert_settings: {} }), open };
}

export type ReadAlerts = (accountId: string) => Promise<AccountAlerts>;

/** Reads each account once, however many of its servers a run checks: what has changed since, the conditions of writes see. */
export function alertsReader(): ReadAlerts {
  const accounts = new Map<string, Promise<AccountAlerts>>();
  return (accountId) => {
    const reading = accounts.get(accountId) ?? readAlerts(accountId);
    accounts.set(accountId, reading);
    return reading;
  };
}

/** What was found out about a resource. */
export interface Finding {
  kind: AlertKind;
  type: AlertResource;
  id: string;
  /** What was measured, or whether it is so. */
  measured: number | boolean;
  /** Its name, asked for only if an alert opens; undefined if none must. */
  name: () => Promise<string | undefined> | string;
  /** The server whose report it is from, of an instance. */
  server_id?: string;
}

/** Opens and closes the alerts of a kind and a resource. */
export async function evaluateAlert(
  alerts: AccountAlerts,
  { kind, type, id, measured, name, server_id }: Finding,
): Promise<void> {
  const thresholds = listThresholds(kind, alerts.settings);
  const open = alerts.open.filter((each) => each.resource_id === id && each.kind === kind && mayEvaluate(server_id, each));
  const isAlert = (threshold: number | null, isOpen: boolean): boolean =>
    typeof measured === "boolean" ? measured : threshold !== null && isBeyond(kind, measured, threshold, isOpen);
  const value = typeof measured === "number" ? Math.floor(measured) : null;
  for (const each of open)
    if (!thresholds.includes(each.threshold) || !isAlert(each.threshold, true)) await closeOpenAlert(alerts, each, value);
  const newThresholds = thresholds.filter((step) => !open.some(({ threshold }) => threshold === step) && isAlert(step, false));
  const resourceName = newThresholds.length === 0 ? undefined : await name();
  if (resourceName === undefined) return;
  for (const threshold of newThresholds) {
    const step = threshold === null ? "" : String(threshold);
    const resource = { type, id, name: resourceName };
    await openAlertOnce(alerts, { kind, resource, step, value, threshold, operation_id: null, server_id });
  }
}

/** A machine's root may be hostile, and may name an instance of another server, whose alerts must not close. */
const mayEvaluate = (serverId: string | undefined, open: OpenAlert): boolean =>
  serverId === undefined || open.server_id === undefined || open.server_id === serverId;

/**
 * Opens an alert. False if it is open already, or if its resource is gone or held by an operation: a later check finds it again.
 */
export async function openAlertOnce(alerts: AccountAlerts, alert: NewAlert, { mayBeHeld = false } = {}): Promise<boolean> {
  const change = startChange(await getAccount(alerts.accountId));
  const opened = openAlert(change, alert, { mayBeHeld });
  if (!(await isCommitted(change))) return false;
  alerts.open.push(opened);
  return true;
}

/** Closes an alert, unless it is closed. */
export async function closeOpenAlert(alerts: AccountAlerts, { alert_id }: OpenAlert, value: number | null = null): Promise<void> {
  const [account, alert] = await Promise.all([getAccount(alerts.accountId), find(alertRef(alerts.accountId, alert_id))]);
  const change = startChange(account);
  if (alert !== undefined) closeAlert(change, alert, value);
  if (alert === undefined || (await isCommitted(change))) alerts.open = alerts.open.filter((each) => each.alert_id !== alert_id);
}

async function isCommitted(change: Change): Promise<boolean> {
  const isFirst = await tryCommit(change);
  if (!isFirst) log.info("an alert was changed by another check, or its resource was", { account: change.accountId });
  return isFirst;
}

/** Closes what the settings no longer have: what is off, and thresholds that were changed. */
export async function closeAlertsNotInSettings(alerts: AccountAlerts): Promise<void> {
  for (const each of alerts.open)
    if (isAlertKind(each.kind) && !listThresholds(each.kind, alerts.settings).includes(each.threshold))
      await closeOpenAlert(alerts, each);
}

/** Closes all alerts of a resource that is gone. */
export async function closeAlertsOf(alerts: AccountAlerts, resourceId: string): Promise<void> {
  for (const each of alerts.open) if (each.resource_id === resourceId) await closeOpenAlert(alerts, each);
}
