// A user as it is stored: what admits the requests of their sessions, and who they are.
import * as z from "zod";
import * as fields from "../../api/fields.ts";
import type { Permission } from "../../api/permissions.ts";
import type { Role } from "../../api/roles.ts";
import { ROLE_CODES } from "../../data/codes.ts";
import { openEnum } from "../../data/stored.ts";
import type { Language } from "../../domain/languages.ts";
import { text, noText, bytes, counter, mark, slots } from "./fields.ts";

/** What admits the requests of a user's sessions, and so is written by each of them. */
export const UserAccess = z.object({
  /** Changes with the password: no session is opened with one that is no longer the user's. */
  password: bytes,
  /** The tags of those that are open. */
  sessions: z.set(bytes).optional(),
  /**
   * The code of the role (`ROLE_CODES`). Before there were roles, every user was an owner. Its name is short, like the next one,
   * because the whole item has to fit into one write unit.
   */
  r: text.default(ROLE_CODES.owner),
  /** Custom roles only: a bit per permission (`PERMISSION_BITS`). */
  m: counter,
  /** Set if they must set up a second factor before their sessions may do anything else. */
  s: mark,
  all: slots,
  create_delete: slots,
});

export type UserAccess = z.infer<typeof UserAccess>;

export const UserRecord = z.object({
  id: fields.id("user"),
  account_id: fields.id("account"),
  email: text,
  name: text,
  password_hash: text,
  role: openEnum<Role>().default("owner"),
  /** Permissions of a custom role; empty for the others. */
  permissions: z.array(openEnum<Permission>()).default([]),
  last_sign_in_at: noText,
  created_at: fields.timestamp,
  /** What they are told by mail; by default, owners and admins are told of alerts. */
  notifications: z.object({ email: openEnum<"none" | "alerts" | "all">() }).optional(),
  /** `bouncing`: the mailbox does not take mail. */
  email_status: openEnum<"ok" | "bouncing">().default("ok"),
  /** How many second factors they have: the factors themselves have items of their own. */
  passkeys: counter,
  totp: z.boolean().default(false),
  recovery_codes_left: counter,
  /** Which person of the account's identity provider they are: `links` is that of the provider as it was then. */
  sso: z.object({ links: text, subject: text }).optional(),
  /** That of their last sign-in. */
  language: openEnum<Language>().default("en"),
});

export type UserRecord = z.infer<typeof UserRecord>;
