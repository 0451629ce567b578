// A bulk action as it is stored: what it does, what it selected, and what becomes of each resource.
import * as z from "zod";
import { Reason } from "../../api/fields.ts";
import { openEnum } from "../../data/stored.ts";
import type { ItemStatus } from "../../domain/lifecycle.ts";
import { Caller } from "./caller.ts";
import { maybeCount, maybeText, noText, resourceType, text, textOrNull } from "./fields.ts";

/** What the request fixed. */
export const BulkRecord = z.object({
  action: text,
  type: resourceType,
  parameters: z.record(text, z.unknown()),
  stop_after_failures: maybeCount,
  /** Who sent the request: each resource needs their permission when its turn comes. */
  caller: Caller.omit({ permissions: true, session_id: true, wait: true }),
});
export type BulkRecord = z.infer<typeof BulkRecord>;

const BulkTarget = z.object({
  id: text,
  name: text,
  /** The server on which the work is done, if it is done on one. */
  server_id: textOrNull,
});
export type BulkTarget = z.infer<typeof BulkTarget>;

/** A part of the selection. */
export const BulkPart = z.object({ targets: z.array(BulkTarget) });

/** What has become of a resource; there is no such item before its turn. */
export const BulkRow = z.object({
  status: openEnum<ItemStatus>(),
  operation_id: noText,
  error: z.object({ code: text, message: text, reason: Reason.nullable() }).nullable().default(null),
  /** Since when another operation has held it. */
  held_since: maybeText,
  /** Since when all of its backups that are left are held. */
  backups_held_since: maybeText,
  /** The instance is deleted: its backups are next. */
  stage: openEnum<"backups">().optional(),
});
export type BulkRow = z.infer<typeof BulkRow>;
