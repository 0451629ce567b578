// What an account can set about itself, except the backup policy of its new instances: a form of it needs no cron parser.
import * as z from "zod";
import { ALLOWED_IPS_MAX, TOKEN_DAYS_MAX } from "../domain/limits.ts";
import { mustBeOneOf } from "./errors.ts";
import * as fields from "./fields.ts";
import { networks } from "./networks.ts";

export const settable = {
  account_name: fields.text(100, "Example Ltd"),
  contact_email: fields.email,
  default_provider: fields.code("sandbox"),
  default_region: fields.code("eu-central"),
  backup_retention_days: z
    .number("must be a whole number")
    .int("must be a whole number")
    .min(1, "must be at least 1")
    .max(365, "must be at most 365")
    .meta({ description: "Days to keep safety backups", examples: [14] }),
};

/** This has no example, because only owners can send it. */
export const tokenMaxDays = z
  .number("must be a whole number")
  .int("must be a whole number")
  .min(1, "must be at least 1")
  .max(TOKEN_DAYS_MAX, `must be at most ${TOKEN_DAYS_MAX}`)
  .nullable();

/** Who must have a second factor; `admins` are the owners, too. */
export const REQUIRES_SECOND_FACTOR = ["none", "admins", "all"] as const;
export const requireSecondFactor = z.enum(REQUIRES_SECOND_FACTOR, mustBeOneOf(REQUIRES_SECOND_FACTOR));

/** The settings as a request changes them. */
export const SETTABLE = {
  account_name: settable.account_name.optional(),
  contact_email: fields.emailInput.nullable().optional(),
  default_provider: settable.default_provider.nullable().optional(),
  default_region: settable.default_region.nullable().optional(),
  backup_retention_days: settable.backup_retention_days.optional(),
  token_max_days: tokenMaxDays.optional(),
  require_second_factor: requireSecondFactor.optional(),
  allowed_ips: networks.optional().meta({
    description: "Must contain the address that you send this from. Sessions that are open stay",
    examples: [["192.0.2.0/24"]],
    maxItems: ALLOWED_IPS_MAX,
  }),
};
