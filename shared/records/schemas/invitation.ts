// An invitation as it is stored.
import * as z from "zod";
import * as fields from "../../api/fields.ts";
import type { Permission } from "../../api/permissions.ts";
import type { Role } from "../../api/roles.ts";
import { openEnum } from "../../data/stored.ts";
import { count, text } from "./fields.ts";

export const InvitationRecord = z.object({
  id: text,
  account_id: text,
  email: text,
  role: openEnum<Role>(),
  /** Permissions of a custom role; empty for the others. */
  permissions: z.array(openEnum<Permission>()),
  /** Hash of the newest link's token. */
  link_hash: text,
  /** Who sent that link: it is valid only as long as they may still send it. */
  invited_by: z.object({ type: z.literal("user"), id: text, name: text }),
  created_at: fields.timestamp,
  expires_at: fields.timestamp,
  /** The time when it is removed, in seconds since 1970. */
  ttl: count,
});
export type InvitationRecord = z.infer<typeof InvitationRecord>;
