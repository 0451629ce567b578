// Accounts: settings, quotas and counters.
import { Settings, SETTINGS_UNVERSIONED, type SettingsUpdate } from "../api/settings.ts";
import { DEFAULT_QUOTAS } from "../domain/limits.ts";
import { unicodeEmail } from "./unicode-names.ts";
import { type Change, now, Overtaken } from "../data/change.ts";
import { keys } from "../data/keys.ts";
import { AccountRecord } from "./schemas/account.ts";
import { sentFields } from "./sent-fields.ts";
import { find, type Ref } from "../data/table.ts";
import { type Version, computeVersion } from "../data/versions.ts";

export const accountRef = (accountId: string): Ref<AccountRecord> => ({ key: keys.account(accountId), schema: AccountRecord });

/** The caller's own account. It exists, or authentication would have failed. */
export async function getAccount(accountId: string): Promise<AccountRecord> {
  return requireAccount(await find(accountRef(accountId)));
}

export function requireAccount(account: AccountRecord | undefined): AccountRecord {
  if (account === undefined) throw new Error("The account of an authenticated credential is missing");
  return account;
}

export const newAccount = (id: string, name: string): AccountRecord =>
  AccountRecord.parse({
    id,
    account_name: name,
    contact_email: null,
    default_provider: null,
    default_region: null,
    backup_retention_days: 14,
    ...Object.fromEntries(Object.entries(DEFAULT_QUOTAS).map(([kind, limit]) => [`limit_${kind}`, limit])),
    created_at: now(),
    updated_at: now(),
  });

/** A field that was not sent stays. */
export function setSettings(change: Change, account: AccountRecord, fields: SettingsUpdate): AccountRecord {
  const set = { ...sentFields(fields), updated_at: now() };
  // Which regions there are depends on the provider: a change of one needs the other as it was read.
  const { default_provider, default_region } = account;
  const chooses = fields.default_provider !== undefined || fields.default_region !== undefined;
  change.setOnAccount(
    set,
    chooses ? { default_provider, default_region } : {},
    () =>
      new Overtaken("Another request changed the settings at the same time; read them and try again if you need to", account.id),
  );
  return { ...account, ...set };
}

/** Writes nothing if the longest life of tokens has changed since it was read. */
export const requireTokenDays = (change: Change, { id, token_max_days }: AccountRecord): void =>
  change.setOnAccount({}, { token_max_days }, (current) =>
    (current?.["token_max_days"] ?? null) === token_max_days
      ? undefined
      : new Overtaken("Another request changed the settings at the same time; try again", id),
  );

export const settingsVersion = (account: AccountRecord): Version =>
  computeVersion(accountRef(account.id), account, { publicSchema: Settings, unversioned: SETTINGS_UNVERSIONED });

export function toSettings(account: AccountRecord): Settings {
  return {
    account_name: account.account_name,
    contact_email: account.contact_email,
    contact_email_unicode: account.contact_email === null ? null : unicodeEmail(account.contact_email),
    default_provider: account.default_provider,
    default_region: account.default_region,
    backup_retention_days: account.backup_retention_days,
    token_max_days: account.token_max_days,
    require_second_factor: account.require_second_factor,
    allowed_ips: account.allowed_ips,
    default_backup_policy: account.default_backup_policy,
    quotas: {
      servers: { used: account.used_server, limit: account.limit_server },
      instances: { used: account.used_instance, limit: account.limit_instance },
      tokens: { used: account.used_token, limit: account.limit_token },
      ssh_keys: { used: account.used_ssh_key, limit: account.limit_ssh_key },
      users: { used: account.used_user, limit: account.limit_user },
      backups: { used: account.used_backup, limit: account.limit_backup },
      backup_bytes: { used: account.used_backup_bytes, limit: account.limit_backup_bytes },
      webhooks: { used: account.used_webhook, limit: account.limit_webhook },
    },
    updated_at: account.updated_at,
  };
}
