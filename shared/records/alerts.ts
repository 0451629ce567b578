// Alerts in the table, and the settings that open them. An alert that is open has a second item, which makes it the only one of
// its resource, kind and step: of two functions that open or close it at once, one writes it and its event, and the other
// nothing.
import { alertClosed, invalid } from "../api/errors.ts";
import { Alert } from "../api/alerts.ts";
import { Settings, type AlertSettingsUpdate } from "../api/alert-settings.ts";
import { createRef, createRequirement, listByIds } from "../data/by-id.ts";
import { type Change, now, Overtaken } from "../data/change.ts";
import { keys } from "../data/keys.ts";
import { listFiltered } from "../data/lists.ts";
import { type ByIds, type Listed, pageByIds, type PageQuery } from "../data/pages.ts";
import { parseEach } from "../data/parse-each.ts";
import { queryAll } from "../data/table.ts";
import { computeVersion, type Version } from "../data/versions.ts";
import { check } from "../data/writes.ts";
import {
  ALERT,
  ALERT_KINDS,
  type AlertKind,
  type AlertResource,
  type AlertSettings,
  DEFAULT_ALERT_SETTINGS,
  MUTED_DAYS_MAX,
} from "../domain/alerts.ts";
import { DAY_MS } from "../domain/durations.ts";
import { buildEtag, versionedFields } from "../domain/etag.ts";
import { newId } from "../domain/ids.ts";
import { accountRef } from "./accounts.ts";
import { logOutcome, serviceAuthor } from "./events.ts";
import type { AccountRecord } from "./schemas/account.ts";
import { AlertRecord, OpenAlert } from "./schemas/alert.ts";
import type { Caller } from "./schemas/caller.ts";
import { sentFields } from "./sent-fields.ts";

export const alertRef = createRef("alert", AlertRecord);
const requireAlert = createRequirement<AlertRecord>("alert");

export const ALERT_RESOURCES: readonly AlertResource[] = ["server", "instance"];

/** The kinds of resource whose alerts a caller may read. */
const readableBy = ({ permissions }: Pick<Caller, "permissions">): AlertResource[] =>
  ALERT_RESOURCES.filter((type) => permissions.includes(`${type}s:read`));

const isReadable = (caller: Caller, { resource }: AlertRecord): boolean =>
  readableBy(caller).some((type) => type === resource.type);

/** An alert by the ID in a path; one that the caller may not read is not found. */
export const requireReadable = (caller: Caller, alert: AlertRecord | undefined): AlertRecord =>
  requireAlert(alert !== undefined && isReadable(caller, alert) ? alert : undefined);

interface AlertFilters {
  status?: string | undefined;
  kind?: AlertKind | undefined;
  resource_id?: string | undefined;
}

export async function listAlerts(
  caller: Caller,
  { ids, status, kind, resource_id, ...page }: PageQuery & ByIds & AlertFilters,
): Promise<Listed<AlertRecord>> {
  const list = { kind: "alert", accountId: caller.account_id, schema: AlertRecord } as const;
  if (ids !== undefined) {
    const { items } = await listByIds(list, ids);
    return pageByIds(
      items.filter((alert) => isReadable(caller, alert)),
      ids,
    );
  }
  const readable = readableBy(caller);
  const about = kind === undefined ? ALERT_RESOURCES : ALERT_KINDS[kind].about;
  return listFiltered(
    list,
    {
      status,
      actor: kind,
      parentId: resource_id,
      keep: (alert) =>
        alert.state === (status ?? alert.state) && alert.kind === (kind ?? alert.kind) && isReadable(caller, alert),
      narrowed: !about.every((type) => readable.includes(type)),
    },
    page,
  );
}

export const toAlert = ({ state, ...alert }: AlertRecord): Alert => ({ ...alert, status: state });

export const alertVersion = (alert: AlertRecord): Version =>
  computeVersion(alertRef(alert.account_id, alert.id), alert, {
    publicSchema: Alert,
    unversioned: [],
    status: ({ state }) => state,
  });

/** Those of an account that are open. */
export const openAlerts = async (accountId: string): Promise<OpenAlert[]> =>
  parseEach(OpenAlert, await queryAll(keys.openAlerts(accountId), { consistent: true }));

export const ALERTS_SERVICE = serviceAuthor("Alerts", "alerts");

export interface NewAlert {
  id?: string;
  kind: AlertKind;
  resource: { type: AlertResource; id: string; name: string };
  step: string;
  value: number | null;
  threshold: number | null;
  operation_id: string | null;
  server_id?: string | undefined;
}

/** Opens an alert with its event: only one of its resource, kind and step, and only while no operation holds the resource. */
export function openAlert(
  change: Change,
  { id = newId("alert"), server_id, step, ...draft }: NewAlert,
  { mayBeHeld = false }: { mayBeHeld?: boolean } = {},
): OpenAlert {
  const { accountId, at } = change;
  const { kind, resource, threshold } = draft;
  const alert: AlertRecord = {
    ...draft,
    id,
    account_id: accountId,
    number: change.number("alert", id),
    state: ALERT.open,
    step,
    opened_at: at,
    closed_at: null,
    muted_until: null,
    created_at: at,
  };
  const marker = { alert_id: id, resource_id: resource.id, kind, step, threshold, server_id, opened_at: at };
  change.put(keys.openAlert(accountId, resource.id, kind, step), marker);
  change.write(check(keys.record(resource.type, accountId, resource.id), mayBeHeld ? {} : { equals: { operation_id: null } }));
  change.add("alert", alert, { status: alert.state, parentId: resource.id, actorId: kind });
  change.countOpenAlerts(resource.type, 1);
  logOutcome(change, ALERTS_SERVICE, { type: "alert.opened", alert: toAlert(alert) }, resource);
  return marker;
}

/** Closes an alert with its event, once; `value` is what was measured now. */
export function closeAlert(change: Change, alert: AlertRecord, value: number | null): void {
  const { accountId, at } = change;
  const { id, kind, step, resource } = alert;
  const closed = { state: ALERT.closed, closed_at: at };
  const status = { from: ALERT.open, to: ALERT.closed };
  change.move({ kind: "alert", record: alert }, { ...status, set: closed }, { equals: { state: ALERT.open } });
  change.remove(keys.openAlert(accountId, resource.id, kind, step), { equals: { alert_id: id } });
  change.countOpenAlerts(resource.type, -1);
  logOutcome(change, ALERTS_SERVICE, { type: "alert.closed", alert: toAlert({ ...alert, ...closed, value }) }, resource);
}

/** Sets until when no mail is sent about an alert. */
export function muteAlert(change: Change, alert: AlertRecord, muted_until: string | null): AlertRecord {
  if (alert.state !== ALERT.open) throw alertClosed();
  if (muted_until !== null && muted_until <= now()) throw invalid({ field: "muted_until", reason: "must be in the future" });
  if (muted_until !== null && Date.parse(muted_until) > Date.now() + MUTED_DAYS_MAX * DAY_MS)
    throw invalid({ field: "muted_until", reason: `must be at most ${MUTED_DAYS_MAX} days from now` });
  change.update(
    alertRef(change.accountId, alert.id).key,
    { set: { muted_until } },
    { equals: { state: ALERT.open }, unchanged: { muted_until: alert.muted_until } },
    (current) =>
      current?.["state"] === ALERT.open
        ? new Overtaken("Another request muted the alert at the same time; try again", alert.id)
        : alertClosed(),
  );
  return { ...alert, muted_until };
}

/** An account's settings, with the defaults for those that it has never set or that this version cannot read. */
export function alertSettings({ alert_settings }: Pick<AccountRecord, "alert_settings">): AlertSettings {
  const set = Object.entries(Settings.shape).flatMap(([name, schema]) => {
    const { success, data } = schema.safeParse(alert_settings[name]);
    return success ? [[name, data]] : [];
  });
  return { ...DEFAULT_ALERT_SETTINGS, ...Object.fromEntries(set) };
}

/** Null is off. A field that was not sent stays. */
export function setAlertSettings(change: Change, account: AccountRecord, fields: AlertSettingsUpdate): AlertSettings {
  const { backup_overdue, drill_failed, operation_failed } = fields;
  const sent = { ...fields, ...off({ backup_overdue, drill_failed, operation_failed }) };
  const { alert_settings } = account;
  const updated = { ...alert_settings, ...sentFields(sent) };
  change.setOnAccount(
    { alert_settings: updated },
    { alert_settings },
    () =>
      new Overtaken("Another request changed the settings at the same time; read them and try again if you need to", account.id),
  );
  return alertSettings({ alert_settings: updated });
}

const off = (fields: Record<string, boolean | null | undefined>) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value === null ? false : value]));

export function alertSettingsVersion(account: AccountRecord): Version {
  const tag = (of: AccountRecord): string => buildEtag(alertSettings(of), versionedFields(Settings.shape, []));
  const { key, schema } = accountRef(account.id);
  return {
    key,
    etag: tag(account),
    values: { alert_settings: account.alert_settings },
    buildEtag: (current) => tag(schema.parse(current)),
  };
}
