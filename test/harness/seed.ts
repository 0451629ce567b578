// Writes records past the API, as the data layer writes them, for tests that need a status or many records at once.
import { BackupRecord } from "../../shared/records/schemas/backup.ts";
import { InstanceRecord } from "../../shared/records/schemas/instance.ts";
import { BackupCode, CodeRecord } from "../../shared/records/schemas/code.ts";
import { ServerRecord } from "../../shared/records/schemas/server.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import { findCode } from "../../shared/records/code.ts";
import { reserveDeploy } from "../../shared/records/deploys.ts";
import { startChange } from "../../shared/data/change.ts";
import { putIfAbsent, putOne } from "../../shared/data/table.ts";
import { keys } from "../../shared/data/keys.ts";
import { updateOne } from "../../shared/data/table.ts";
import { recordTry, reserveDelivery } from "../../shared/records/deliveries.ts";
import { openAlert } from "../../shared/records/alerts.ts";
import { reserveInvitation } from "../../shared/records/invitations.ts";
import { logEvent } from "../../shared/records/events.ts";
import type { SsoRecord } from "../../shared/records/schemas/sso.ts";
import { WebhookRecord } from "../../shared/records/schemas/webhook.ts";
import { webhookRef } from "../../shared/records/webhooks.ts";
import { newId } from "../../shared/domain/ids.ts";
import { seal } from "../../shared/platform/sealing.ts";
import { BACKUP_WAITING, DEPLOY_STATUS, SERVER_PHASES } from "../../shared/domain/lifecycle.ts";
import { unique, uniqueDatabase, uniqueDomain } from "./unique.ts";

/** Yesterday: pages show what the last days have brought. */
const AT = new Date(Date.now() - 86_400_000).toISOString();

export async function seedServer(accountId: string, fields: Partial<ServerRecord> = {}): Promise<ServerRecord> {
  const change = startChange(await getAccount(accountId));
  const id = fields.id ?? newId("server");
  const server = ServerRecord.parse({
    ...serverFields(accountId, id, change.number("server", id)),
    ...fields,
  });
  change.use("server", 1);
  change.claim(keys.serverName(accountId, server.name), "name", id);
  change.add("server", server, { status: SERVER_PHASES[server.state] });
  await change.commit();
  return server;
}

export const serverFields = (accountId: string, id: string, number: string) => ({
  id,
  account_id: accountId,
  number,
  name: unique("seeded"),
  ip_address: "203.0.113.10",
  state: "ready",
  status_reason: null,
  provider: "sandbox",
  region: "eu-central",
  size: "small",
  specs: { cpu: 2, memory_gb: 4, disk_gb: 40 },
  ssh_key_id: newId("ssh_key"),
  operation_id: null,
  machine_id: null,
  created_at: AT,
  updated_at: AT,
});

export async function seedInstance(accountId: string, fields: Partial<InstanceRecord> = {}): Promise<InstanceRecord> {
  const serverId = fields.server_id ?? (await seedServer(accountId)).id;
  const change = startChange(await getAccount(accountId));
  const id = fields.id ?? newId("instance");
  const instance = InstanceRecord.parse({
    ...instanceFields(accountId, id, change.number("instance", id), serverId),
    ...fields,
  });
  change.use("instance", 1);
  change.claim(keys.domain(accountId, instance.domain), "domain", id);
  change.claim(keys.databaseName(accountId, serverId, instance.database_name), "database_name", id);
  change.update(keys.record("server", accountId, serverId), { add: { instances: 1 } });
  change.add("instance", instance, { status: instance.state, parentId: serverId, protection: instance.protection_status });
  await change.commit();
  return instance;
}

export const instanceFields = (accountId: string, id: string, number: string, serverId: string) => ({
  id,
  account_id: accountId,
  number,
  name: "Seeded shop",
  server_id: serverId,
  server_ip: "203.0.113.10",
  erp_version: "19.0",
  edition: "community",
  database_name: uniqueDatabase(),
  admin_email: "admin@example.com",
  domain: uniqueDomain("seeded"),
  state: "running",
  status_reason: null,
  operation_id: null,
  cloned_from_backup_id: null,
  neutralized: false,
  created_at: AT,
  updated_at: AT,
});

export async function seedBackup(instance: InstanceRecord, fields: Partial<BackupRecord> = {}): Promise<BackupRecord> {
  const accountId = instance.account_id;
  const change = startChange(await getAccount(accountId));
  const id = fields.id ?? newId("backup");
  const seeded = BackupRecord.parse({ ...backupFields(accountId, id, change.number("backup", id), instance), ...fields });
  const backup = { ...seeded, counted_bytes: seeded.size_bytes ?? 0 };
  change.use("backup", 1, { limited: false });
  change.use("backup_bytes", backup.counted_bytes, { limited: false });
  change.add("backup", backup, { status: backup.state, parentId: instance.id });
  await change.commit();
  return backup;
}

export const backupFields = (
  accountId: string,
  id: string,
  number: string,
  instance: Pick<InstanceRecord, "id" | "server_id" | "name">,
) => ({
  id,
  account_id: accountId,
  number,
  instance_id: instance.id,
  instance_name: instance.name,
  server_id: instance.server_id,
  admin_email: "admin@example.com",
  status_reason: null,
  kind: "manual",
  erp_version: "19.0",
  edition: "community",
  database_name: "seeded",
  state: "completed",
  size_bytes: 18_432,
  sha256: "9f86d081884c7d65".repeat(4),
  note: null,
  locked: false,
  operation_id: null,
  created_at: AT,
  completed_at: AT,
  expires_at: null,
});

/** The scheduled backup of an instance's policy, which waits for a place on the server for years. Returns its ID. */
export async function seedWaiting(instance: InstanceRecord): Promise<string> {
  const [due_at, start_at] = ["2026-11-19T03:00:00.000Z", "2099-01-01T00:00:00.000Z"];
  const scheduled = { kind: "scheduled", due_at, attempt: 1 } as const;
  const { id } = await seedBackup(instance, { ...scheduled, state: BACKUP_WAITING, size_bytes: null, completed_at: null });
  const due = { due_at, attempt: 1, start_at, held_since: null, backup_id: id };
  await updateOne(keys.backupPolicy(instance.account_id, instance.id), { set: { due } }, {});
  return id;
}

/** An unfinished upload, beyond the limit of an account if need be. */
export async function seedUpload(accountId: string): Promise<string> {
  const id = newId("upload");
  const change = startChange({ id: accountId });
  const times = { created_at: AT, expires_at: new Date(Date.now() + 86_400_000).toISOString() };
  change.put(keys.upload(accountId, id), {
    id,
    account_id: accountId,
    backup_id: newId("backup"),
    size_bytes: 1,
    note: null,
    ...times,
  });
  change.update(keys.uploads(accountId), { add: { count: 1 } }, { exists: false });
  await change.commit();
  return id;
}

/** An open alert, each of a step of its own. */
export async function seedAlert({ account_id, id, name }: ServerRecord): Promise<string> {
  const change = startChange(await getAccount(account_id));
  const resource = { type: "server", id, name } as const;
  const alert = { kind: "disk_free", resource, step: newId("alert"), value: 4, threshold: 5, operation_id: null } as const;
  const { alert_id } = openAlert(change, alert);
  await change.commit();
  return alert_id;
}

interface Inviter {
  id: string;
  user: { id: string; name: string };
}

/** An invitation that the account's first user has sent. Returns its ID. */
export async function seedInvitation({ id: account_id, user: { id, name } }: Inviter): Promise<string> {
  const change = startChange(await getAccount(account_id));
  const { invitation } = reserveInvitation(
    change,
    { account_id, type: "user", id, name, permissions: [], ip_address: null },
    { email: `${unique("invited")}@example.com`, role: "viewer", permissions: [] },
  );
  await change.commit();
  return invitation.id;
}

/**
 * A record of a second factor that nobody can prove, and that does not count: its user signs in with the password alone. Returns
 * its ID.
 */
export async function seedFactor(userId: string): Promise<string> {
  const id = newId("second_factor");
  const factor = { id, type: "passkey", name: unique("passkey"), created_at: new Date().toISOString() };
  await putIfAbsent(keys.factor(userId, id), factor);
  return id;
}

/** A deploy that is over, on no machine, by an operation that there may be. */
export async function seedDeploy(
  { account_id, id: instance_id }: Pick<InstanceRecord, "account_id" | "id">,
  operationId = newId("operation"),
): Promise<string> {
  const change = startChange(await getAccount(account_id));
  const code = await findCode({ account_id, id: instance_id });
  const actor = { type: "operator", id: "operator", name: "Operator" } as const;
  const choices = { modules: "changed" as const, rehearse: true, backup_first: true, update_image: false };
  const request = { operationId, choices, note: null };
  const deploy = reserveDeploy(change, { actor, requestId: "seed" }, code, request);
  await change.commit();
  await updateOne(keys.deploy(account_id, deploy.id), { set: { status: DEPLOY_STATUS.completed } }, {});
  return deploy.id;
}

/** Code that was set and never deployed, so that a deploy has something to do. */
export async function seedCode({ account_id, id: instance_id }: Pick<InstanceRecord, "account_id" | "id">): Promise<void> {
  const repositories = [{ url: "https://git.example/acme", ref: "main", path: null, credential: null }];
  await putIfAbsent(keys.code(account_id, instance_id), CodeRecord.parse({ account_id, instance_id, repositories }));
}

/** The code that the instance of a backup had, at a commit that every sandbox repository has. */
export async function seedBackupCode(
  accountId: string,
  { id, instance_id }: { id: string; instance_id: string | null },
  ref = "main",
): Promise<void> {
  const place = { url: "https://git.example/acme", ref, path: null };
  const code = CodeRecord.parse({ account_id: accountId, instance_id, repositories: [{ ...place, credential: null }] });
  const commits = [{ ...place, commit: "8f3c1d5e7a90b24c6d8e0f1a2b3c4d5e6f708192" }];
  await updateOne(keys.record("backup", accountId, id), { set: { with_code: true } }, {});
  await putIfAbsent(keys.backupCode(accountId, id), BackupCode.parse({ code, commits, instance_id }));
}

/** Single sign-on as a request sets it, with the issuer that `seedSso` has. */
export const SSO_BODY = { issuer: "https://login.example.com", client_id: "erp", domains: [{ name: "people.example.com" }] };

/** Single sign-on with a provider that nobody can reach, in place of what there is. */
export async function seedSso(account_id: string, fields: Partial<SsoRecord> = {}): Promise<SsoRecord> {
  const sso: SsoRecord = {
    account_id,
    issuer: SSO_BODY.issuer,
    client_id: SSO_BODY.client_id,
    client_secret: await seal("secret", `sso secret ${account_id} ${SSO_BODY.issuer}`),
    domains: [],
    default_role: "viewer",
    role_claim: null,
    roles: {},
    required: false,
    links: unique("links"),
    updated_at: new Date().toISOString(),
    ...fields,
  };
  await putOne(keys.sso(account_id), sso);
  for (const { name, verified } of sso.domains)
    if (verified) await putOne(keys.ssoDomain(name), { account_id, seen_at: sso.updated_at, looked_at: sso.updated_at });
  return sso;
}

/** A delivery of each webhook that was seeded. */
export const seededDeliveries = new Map<string, string>();

/** A webhook without a secret, and deliveries of it that have failed, of which two have events. It acts for a token. */
export async function seedWebhook(accountId: string, tokenId: string, deliveries = 2): Promise<string> {
  const owner = await getAccount(accountId);
  const change = startChange(owner);
  const id = newId("webhook");
  const webhook = WebhookRecord.parse({
    id,
    account_id: accountId,
    name: unique("hook"),
    url: "https://flaky.example/hooks",
    format: "json",
    events: ["settings.update"],
    enabled: true,
    disabled_reason: null,
    acts_for: { type: "token", id: tokenId },
    created_at: change.at,
    updated_at: change.at,
  });
  change.use("webhook", 1);
  change.put(webhookRef(accountId, id).key, webhook);
  const events = Array.from({ length: deliveries }, (_, index) => {
    const by = { operator: "test", requestId: "test" };
    return logEvent(index < 2 ? change : startChange(owner), by, "webhook.test", { type: "webhook", id, name: webhook.name });
  });
  await change.commit();
  const attempt = { at: change.at, duration_ms: 1, http_status: 500, error: null, response_excerpt: null };
  for (const event of events) {
    const delivery = await reserveDelivery(webhook, event, { queued: false });
    await recordTry(delivery, attempt, { status: "failed", next_try_at: null });
    seededDeliveries.set(id, delivery.id);
  }
  return id;
}
