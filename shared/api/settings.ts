// Settings of the account.
import * as z from "zod";
import { PolicyFields } from "./backup-policy.ts";
import { PolicyShown } from "./policy-shown.ts";
import { endpoint } from "./endpoint.ts";
import { roleRequired } from "./errors.ts";
import * as fields from "./fields.ts";
import { requireSecondFactor, SETTABLE, settable, tokenMaxDays } from "./settable.ts";

const Quota = z.object({
  used: fields.integer(1),
  limit: fields.integer(10),
});

export const Settings = z
  .object({
    ...settable,
    contact_email: settable.contact_email.nullable(),
    contact_email_unicode: fields.emailUnicode.nullable(),
    default_provider: settable.default_provider.nullable(),
    default_region: settable.default_region.nullable(),
    token_max_days: tokenMaxDays.meta({
      description: "Days after which a new API token expires at the latest; null: no limit",
      examples: [null],
    }),
    require_second_factor: requireSecondFactor.meta({
      description:
        "Who must have a second factor, from each next sign-in on: `admins` are owners and admins. Until they have one, their sessions can only set one up",
      examples: ["none"],
    }),
    allowed_ips: z
      .array(z.string())
      .meta({ description: "The networks that people may sign in from; empty: everywhere", examples: [[]] }),
    default_backup_policy: PolicyShown.nullable().meta({
      description: "Copied to every new instance except neutralized clones",
      examples: [null],
    }),
    quotas: z.object({
      servers: Quota,
      instances: Quota,
      tokens: Quota,
      ssh_keys: Quota,
      users: Quota,
      backups: Quota.meta({ description: "Backups of any status" }),
      backup_bytes: Quota.meta({ description: "Bytes of all backups and uploads" }),
      webhooks: Quota,
    }),
    updated_at: fields.timestamp,
  })
  .meta({ id: "Settings" });
export type Settings = z.infer<typeof Settings>;

/** Fields that follow from others, or from other records: how much of each quota is used. */
export const SETTINGS_UNVERSIONED = ["contact_email_unicode", "quotas"];

export const get = () =>
  endpoint({
    method: "GET",
    path: "/settings",
    summary: "Show the account's settings and quotas",
    description: "Also returns the account's quota for each kind of resource and how much of it is used.",
    access: ["settings:read"],
    unversioned: SETTINGS_UNVERSIONED,
    data: Settings,
  });

export const OWNERS_FIELDS = ["token_max_days", "require_second_factor", "allowed_ips"] as const;

export const update = () =>
  endpoint({
    method: "PUT",
    path: "/settings",
    summary: "Change the account's settings",
    description:
      "Fields that you leave out keep their value; null clears an optional field. Only owners, in a session, change `token_max_days`, `require_second_factor` and `allowed_ips`.",
    access: ["settings:write"],
    fieldRole: { fields: OWNERS_FIELDS, role: "owner" },
    unversioned: SETTINGS_UNVERSIONED,
    errors: () => [roleRequired("owner")],
    body: fields.atLeastOne({ ...SETTABLE, default_backup_policy: PolicyFields.nullable().optional() }),
    data: Settings,
  });

export type SettingsUpdate = z.infer<ReturnType<typeof update>["body"]>;
