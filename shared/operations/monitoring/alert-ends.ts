// What ends or begins by time alone: alerts of failures after some days, and API tokens that expire soon. It also closes what
// nothing else has closed: alerts of resources that are gone, that the settings have no longer, or that the record contradicts.
import { startChange, tryCommit } from "../../data/change.ts";
import { keys, keyString } from "../../data/keys.ts";
import { parseOrSkip } from "../../data/parse-each.ts";
import { readAll } from "../../data/table.ts";
import { ALERT_KINDS, FAILURE_DAYS, isAlertKind } from "../../domain/alerts.ts";
import { DAY_MS, HOUR_SECONDS } from "../../domain/durations.ts";
import { isId } from "../../domain/ids.ts";
import { HEALTH_OF_ERP } from "../../domain/lifecycle.ts";
import { getAccount } from "../../records/accounts.ts";
import { logOutcome } from "../../records/events.ts";
import type { OpenAlert } from "../../records/schemas/alert.ts";
import { InstanceRecord } from "../../records/schemas/instance.ts";
import { WatchedServer } from "../../records/schemas/server.ts";
import type { TokenRecord } from "../../records/schemas/token.ts";
import { allTokens, labelRef } from "../../records/tokens.ts";
import { type AccountAlerts, closeAlertsOf, closeOpenAlert, closeAlertsNotInSettings, readAlerts } from "./alerts.ts";
import { evaluateInstanceAlerts } from "./event-alerts.ts";
import { ALERT_RESOURCES, ALERTS_SERVICE } from "../../records/alerts.ts";

export async function endAlerts(accountId: string, at: number): Promise<void> {
  const alerts = await readAlerts(accountId);
  if (alerts.open.length > 0) {
    await closeAlertsNotInSettings(alerts);
    for (const each of alerts.open) if (hasExpired(each, at)) await closeOpenAlert(alerts, each);
    await closeUnmeasured(alerts, at);
    const keyOf = ({ resource_id }: OpenAlert) =>
      keys.record(ALERT_RESOURCES.find((type) => isId(type, resource_id)) ?? "server", accountId, resource_id);
    const resources = await readAll(alerts.open.map(keyOf));
    for (const each of alerts.open) {
      const item = resources.get(keyString(keyOf(each)));
      if (item === undefined) await closeAlertsOf(alerts, each.resource_id);
      const instance = item && isId("instance", each.resource_id) ? parseOrSkip(InstanceRecord, item) : undefined;
      if (instance === undefined) continue;
      await evaluateInstanceAlerts(alerts, instance);
      if (each.kind === "down" && instance.health_status !== HEALTH_OF_ERP.failing) await closeOpenAlert(alerts, each);
    }
  }
  for (const token of await allTokens(accountId)) await warnOf(token, alerts.settings.token_expiry_days ?? [], at);
}

const hasExpired = ({ kind, opened_at }: OpenAlert, at: number): boolean =>
  isAlertKind(kind) && ALERT_KINDS[kind].happened === true && Date.parse(opened_at) <= at - FAILURE_DAYS * DAY_MS;

/** What was measured so long ago says nothing: the machine is off, or its timer has died. */
const METRICS_HOURS = 3;

async function closeUnmeasured(alerts: AccountAlerts, at: number): Promise<void> {
  const keyOf = ({ server_id, resource_id }: OpenAlert) => keys.watchedServer(server_id ?? resource_id);
  const measured = alerts.open.filter(({ kind }) => kind === "cpu" || kind === "error_rate");
  const servers = await readAll(measured.map(keyOf));
  for (const each of measured) {
    const server = servers.get(keyString(keyOf(each)));
    const { figures_at = 0 } = (server && parseOrSkip(WatchedServer, server)) ?? {};
    if (figures_at <= at / 1000 - METRICS_HOURS * HOUR_SECONDS) await closeOpenAlert(alerts, each);
  }
}

/**
 * An event at each step, the lowest that it has reached: once, also if several were reached since the last look. None of a token
 * that was rotated: it is to expire, and the one that replaces it has its name.
 */
async function warnOf(token: TokenRecord, steps: readonly number[], at: number) {
  const { id, account_id, name, expires_at, replaced_by, warned_days } = token;
  if (expires_at === null || Date.parse(expires_at) <= at || replaced_by !== null) return;
  const days = (Date.parse(expires_at) - at) / DAY_MS;
  const reached = steps.filter((step) => days <= step && step < (warned_days ?? Infinity));
  if (reached.length === 0) return;
  const step = Math.min(...reached);
  const change = startChange(await getAccount(account_id));
  change.update(
    labelRef(account_id, id).key,
    { set: { warned_days: step } },
    { same: { warned_days }, unchanged: { replaced_by: null } },
  );
  logOutcome(change, ALERTS_SERVICE, { type: "token.expiring", expiry: { expires_at, days: step } }, { type: "token", id, name });
  await tryCommit(change); // unless another run was faster, or the token was revoked or rotated
}
