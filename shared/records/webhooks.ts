// Webhooks in the table, how their deliveries go, and for whom they act.
import * as z from "zod";
import { notFound, noWebhookSecret, permissionRequired, webhookDisabled } from "../api/errors.ts";
import type { Permission } from "../api/permissions.ts";
import { listPermissions } from "../api/roles.ts";
import { Webhook, WEBHOOK_UNVERSIONED } from "../api/webhooks.ts";
import { type Change, startChange, now, Overtaken, tryCommit } from "../data/change.ts";
import { keys, keyString, type Item } from "../data/keys.ts";
import { parseEach } from "../data/parse-each.ts";
import { find, queryAll, readAll, type Ref, updateOne } from "../data/table.ts";
import { type Version, computeVersion } from "../data/versions.ts";
import { check, type Write } from "../data/writes.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../domain/durations.ts";
import { newId } from "../domain/ids.ts";
import { WEBHOOK } from "../domain/limits.ts";
import { permissionsFor } from "../api/subscriptions.ts";
import { concurrently } from "../platform/concurrently.ts";
import { newWebhookSecret } from "../platform/standard-webhooks.ts";
import { seal, unseal } from "../platform/sealing.ts";
import { getAccount } from "./accounts.ts";
import { logOutcome, serviceAuthor } from "./events.ts";
import type { Caller } from "./schemas/caller.ts";
import { WebhookHealth, WebhookRecord } from "./schemas/webhook.ts";
import { permissionsIn } from "../data/permission-bits.ts";
import { tokenAccessRef } from "./tokens.ts";
import { userRef } from "./users.ts";

export const webhookRef = (accountId: string, id: string): Ref<WebhookRecord> => ({
  key: keys.webhook(accountId, id),
  schema: WebhookRecord,
});
export const healthRef = (accountId: string, id: string): Ref<WebhookHealth> => ({
  key: keys.webhookHealth(accountId, id),
  schema: WebhookHealth,
});

export function requireWebhook(webhook: WebhookRecord | undefined): WebhookRecord {
  if (webhook === undefined) throw notFound("webhook");
  return webhook;
}

export const getWebhook = async (accountId: string, id: string): Promise<WebhookRecord> =>
  requireWebhook(await find(webhookRef(accountId, id)));

/** All of an account's, at most 20. */
export const allWebhooks = async (accountId: string): Promise<WebhookRecord[]> =>
  parseEach(WebhookRecord, await queryAll(keys.webhooks(accountId), { consistent: true }));

const Listed = z.object({ account_id: z.string(), webhook_id: z.string() });
const AT_ONCE = 50;

/** Which webhooks there are, in all accounts. */
export const listedWebhooks = async (): Promise<z.infer<typeof Listed>[]> =>
  parseEach(Listed, await queryAll(keys.webhooksListed()));

/** Shows webhooks with how their deliveries go, in one call. */
export async function showWebhooks(accountId: string, records: readonly WebhookRecord[]): Promise<Webhook[]> {
  const items = await readAll(records.map(({ id }) => healthRef(accountId, id).key));
  const health = new Map([...items.values()].map((item) => [String(item["sk"]), WebhookHealth.parse(item)]));
  return records.map((record) => toWebhook(record, health.get(record.id)));
}

export function toWebhook(record: WebhookRecord, health?: WebhookHealth): Webhook {
  const { failing_since = null, last_delivery_at = null } = health ?? {};
  const status = !record.enabled ? "disabled" : failing_since === null ? "ok" : "failing";
  return { ...record, status, failing_since, last_delivery_at };
}

export const webhookVersion = (webhook: WebhookRecord): Version =>
  computeVersion(webhookRef(webhook.account_id, webhook.id), webhook, {
    publicSchema: Webhook,
    unversioned: WEBHOOK_UNVERSIONED,
  });

/** What a secret is encrypted for: it cannot be moved to another webhook. */
const sealingContext = (kind: "secret" | "url", id: string): string => `webhook ${kind} ${id}`;

/** What people see of a URL that is a secret. */
const maskUrl = (url: string): string => `${new URL(url).origin}/…${url.slice(-4)}`;

/** How a URL is stored. */
async function prepareUrl(id: string, format: string, url: string): Promise<Pick<WebhookRecord, "url" | "sealed_url">> {
  const { href } = new URL(url);
  return format === "json" ? { url: href } : { url: maskUrl(href), sealed_url: await seal(href, sealingContext("url", id)) };
}

export const openUrl = async ({ id, url, sealed_url }: WebhookRecord): Promise<string> =>
  sealed_url === undefined ? url : unseal(sealed_url, sealingContext("url", id));

/** The secrets that a delivery is signed with at this time, the newest first. */
export async function openSecrets({ id, secret, previous_secret }: WebhookRecord, at: number): Promise<string[]> {
  const sealed = [
    ...(secret === undefined ? [] : [secret]),
    ...(previous_secret !== undefined && Date.parse(previous_secret.until) > at ? [previous_secret.secret] : []),
  ];
  return Promise.all(sealed.map((each) => unseal(each, sealingContext("secret", id))));
}

type NewWebhook = Pick<Webhook, "name" | "url" | "format" | "events" | "enabled">;

/** The secret is returned only here. */
export async function reserveWebhook(
  change: Change,
  caller: Caller,
  { name, url, format, events, enabled }: NewWebhook,
): Promise<{ webhook: WebhookRecord; secret: string | null }> {
  const id = newId("webhook");
  const secret = format === "json" ? newWebhookSecret() : null;
  const webhook: WebhookRecord = {
    id,
    account_id: change.accountId,
    name,
    ...(await prepareUrl(id, format, url)),
    format,
    events,
    enabled,
    disabled_reason: null,
    ...(secret !== null && { secret: await seal(secret, sealingContext("secret", id)) }),
    acts_for: { type: caller.type, id: caller.id },
    created_at: change.at,
    updated_at: change.at,
  };
  change.use("webhook", 1);
  change.put(webhookRef(change.accountId, id).key, webhook);
  change.put(keys.webhookListed(id), { account_id: change.accountId, webhook_id: id });
  return { webhook, secret };
}

type Edit = { [K in "name" | "url" | "events" | "enabled"]?: WebhookRecord[K] | undefined };

/** Whoever changes what is sent where, or enables it, is responsible for it from then on. */
export async function editWebhook(
  change: Change,
  caller: Caller,
  webhook: WebhookRecord,
  { name, url, events, enabled }: Edit,
): Promise<WebhookRecord> {
  const takesOver = url !== undefined || events !== undefined || enabled === true;
  const set = {
    ...(name !== undefined && { name }),
    ...(url !== undefined && (await prepareUrl(webhook.id, webhook.format, url))),
    ...(events !== undefined && { events }),
    ...(enabled !== undefined && { enabled, disabled_reason: null }),
    ...(takesOver && { acts_for: { type: caller.type, id: caller.id } }),
    updated_at: now(),
  };
  writeOnce(change, webhook, set);
  // Otherwise, its first failure would disable it again.
  if (enabled === true)
    change.update(healthRef(change.accountId, webhook.id).key, { set: { failing_since: null, timeouts: 0 } }, { exists: false });
  return { ...webhook, ...set };
}

/** A webhook that acts for a token acts for the one that replaces it. */
export function moveWebhookToToken(change: Change, webhook: WebhookRecord, { from, to }: { from: string; to: string }): void {
  const { type, id } = webhook.acts_for;
  if (type === "token" && id === from) writeOnce(change, webhook, { acts_for: { type, id: to } });
}

/** Unless another request has changed the webhook since it was read. */
function writeOnce(change: Change, { id, updated_at }: WebhookRecord, set: Item): void {
  change.update(webhookRef(change.accountId, id).key, { set }, { unchanged: { updated_at } }, (item) =>
    item === undefined
      ? notFound("webhook")
      : new Overtaken("Another request changed the webhook at the same time; try again", id),
  );
}

/** A client that sends back what it has read means the URL of a chat that it was not shown. */
export const isShownUrl = ({ url, sealed_url }: WebhookRecord, sent: string): boolean => sealed_url !== undefined && sent === url;

const OVERLAP_MS = WEBHOOK.rotationHours * HOUR_MS;

export async function rotate(change: Change, webhook: WebhookRecord): Promise<{ webhook: WebhookRecord; secret: string }> {
  const value = newWebhookSecret();
  const set = {
    secret: await seal(value, sealingContext("secret", webhook.id)),
    ...(webhook.secret !== undefined && {
      previous_secret: { secret: webhook.secret, until: new Date(Date.now() + OVERLAP_MS).toISOString() },
    }),
    updated_at: now(),
  };
  writeOnce(change, webhook, set);
  return { webhook: { ...webhook, ...set }, secret: value };
}

export function removeWebhook(change: Change, { id }: WebhookRecord): void {
  change.use("webhook", -1);
  change.remove(webhookRef(change.accountId, id).key, {}, () => notFound("webhook"));
  change.remove(keys.webhookListed(id), { exists: false });
  change.remove(healthRef(change.accountId, id).key, { exists: false });
}

const SERVICE = serviceAuthor("Webhooks", "webhooks");

/** Stops a webhook, with an event. Nothing if it has been changed, stopped or deleted since, or if `onlyIf` does not hold. */
export async function disableWebhook(
  webhook: WebhookRecord,
  reason: "gone" | "failing" | "credential",
  onlyIf?: Write,
): Promise<void> {
  const change = startChange(await getAccount(webhook.account_id));
  if (onlyIf !== undefined) change.write(onlyIf);
  const set = { enabled: false, disabled_reason: reason, updated_at: change.at };
  change.update(
    webhookRef(webhook.account_id, webhook.id).key,
    { set },
    // A rotation that passes it on to another token changes nothing else of it.
    { equals: { enabled: true, updated_at: webhook.updated_at, acts_for: webhook.acts_for } },
  );
  const changes = [{ field: "disabled_reason", before: null, after: reason }];
  logOutcome(change, SERVICE, { type: "webhook.disabled", changes }, { type: "webhook", id: webhook.id, name: webhook.name });
  await tryCommit(change); // unless it was changed meanwhile
}

const FAILING_MS = WEBHOOK.failingDays * DAY_MS;
const hasFailedForLong = ({ failing_since }: WebhookHealth): boolean =>
  failing_since !== null && Date.parse(failing_since) < Date.now() - FAILING_MS;

/** Stops a webhook that has had failures and no success for days, unless a delivery succeeds at the same time. */
export async function disableIfFailing(webhook: WebhookRecord, health: WebhookHealth): Promise<void> {
  if (!webhook.enabled || !hasFailedForLong(health)) return;
  const { failing_since } = health;
  await disableWebhook(webhook, "failing", check(healthRef(webhook.account_id, webhook.id).key, { equals: { failing_since } }));
}

/** The same for all webhooks, also for those that have nothing left to deliver. */
export async function disableAllFailing(): Promise<void> {
  const webhooks = await listedWebhooks();
  const items = await readAll(webhooks.map(({ account_id, webhook_id }) => healthRef(account_id, webhook_id).key));
  await concurrently(AT_ONCE, webhooks, async ({ account_id, webhook_id }) => {
    const ref = healthRef(account_id, webhook_id);
    const health = WebhookHealth.safeParse(items.get(keyString(ref.key))).data;
    if (health === undefined || !hasFailedForLong(health)) return;
    const webhook = await find(webhookRef(account_id, webhook_id));
    if (webhook !== undefined) await disableIfFailing(webhook, health);
  });
}

/** The permissions now of the user or token for whom a webhook acts; undefined once they are removed, revoked or expired. */
export async function actingPermissions(webhook: WebhookRecord): Promise<readonly Permission[] | undefined> {
  const permissions = await readPermissions(webhook);
  if (permissions !== undefined) return permissions;
  // The webhook may have been passed on to the token that replaces theirs, since it was read.
  const stored = await find(webhookRef(webhook.account_id, webhook.id));
  return stored === undefined || stored.acts_for.id === webhook.acts_for.id ? undefined : readPermissions(stored);
}

async function readPermissions({ account_id, acts_for }: WebhookRecord): Promise<readonly Permission[] | undefined> {
  if (acts_for.type === "user") {
    const user = await find(userRef(acts_for.id));
    return user?.account_id === account_id ? listPermissions(user) : undefined;
  }
  const access = await find(tokenAccessRef(acts_for.id));
  if (access?.account_id !== account_id || (access.expires_at ?? Infinity) <= Date.now()) return undefined;
  return permissionsIn(access.permissions);
}

/** A webhook is sent whole records, so that whoever sets it up or uses it must be able to read them. */
export function requireSubscribable({ permissions }: Caller, events: readonly string[]): void {
  const missing = permissionsFor(events).find((permission) => !permissions.includes(permission));
  if (missing !== undefined) throw permissionRequired(missing);
}

/**
 * The same for the events that a webhook has. This 403 comes before the one that asks for a fresh proof, so call it before the
 * request's first `read`. What it loads may change until then: check what was read, too.
 */
export async function requireSubscribed(caller: Caller, id: string): Promise<void> {
  if (permissionsFor(["*"]).every((permission) => caller.permissions.includes(permission))) return;
  requireSubscribable(caller, (await find(webhookRef(caller.account_id, id)))?.events ?? []);
}

export function requireEnabled({ enabled }: WebhookRecord): void {
  if (!enabled) throw webhookDisabled();
}

export function requireSecret({ format, enabled }: WebhookRecord): void {
  if (format !== "json") throw noWebhookSecret(enabled ? "ok" : "disabled");
}

/** Counts a test of a webhook. Seconds to wait if there have been too many in a minute; then nothing is counted. */
export async function secondsToNextTest({ account_id, id }: WebhookRecord): Promise<number | undefined> {
  const ref = healthRef(account_id, id);
  const tests = (await find(ref))?.tests ?? [];
  const at = Date.now();
  const recent = tests.filter((test) => test > at - MINUTE_MS);
  const [oldest = at] = recent;
  if (recent.length >= WEBHOOK.testsAMinute) return Math.max(1, Math.ceil((oldest + MINUTE_MS - at) / 1000));
  const { done } = await updateOne(ref.key, { set: { tests: [...recent, at] } }, { exists: false, unchanged: { tests } });
  return done ? undefined : 1; // another test came first
}
