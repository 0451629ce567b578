// An operation as it is stored.
import * as z from "zod";
import type { Actor } from "../../api/fields.ts";
import { Operation } from "../../api/operations.ts";
import type { OperationStatus, OperationType } from "../../domain/lifecycle.ts";
import { openEnum, stored } from "../../data/stored.ts";
import type { InstanceEdit } from "./instance.ts";
import { text, textOrNull, noText, maybeText, maybeCount, mark, operatedType, resourceType, listed } from "./fields.ts";

/**
 * What starting, withdrawing and ending an operation takes, without what is only shown of it. A function that can begin an
 * operation builds this schema at each cold start; the public one takes six times as long.
 */
export const OperationCore = z.object({
  ...listed,
  id: text,
  created_at: text,
  created_by: z.object({ type: openEnum<Actor["type"]>(), id: text, name: text }),
  request_id: text,
  state: openEnum<OperationStatus>(),
  type: openEnum<OperationType>(),
  /** Operations of before they had a name have none. */
  resource: z.object({ type: operatedType, id: text, name: noText }),
  /** The execution's input: ids and flags. */
  input: z.record(text, z.unknown()),
  /** The state of the resource when the operation started; null for operations that create it. */
  before: textOrNull,
  /** What else the operation locks, besides its resource. */
  holds: z.array(z.object({ type: resourceType, id: text })),
  /** The backup whose archive it reads. */
  uses_backup_id: textOrNull,
  /** The other resources whose lists include the operation. */
  concerns: z.array(text).default([]),
  /** Its request in the audit log. */
  event_id: maybeText,
  /** What the request changed immediately, for withdrawing the operation. */
  replaced: z.custom<{ before: InstanceEdit; after: InstanceEdit }>().optional(),
  /** The state to which the resource goes instead of what the lifecycle says, if a task found that out. */
  failed_state: maybeText,
  /** The code of the step that is in progress, and of the one that failed. */
  step_code: noText,
  failed_step: maybeText,
  /** How many tries of its undos have failed: each further try is a separate job on the machine. */
  failed_undos: maybeCount,
  /** The modules of the instance's own data, recorded before those of restored data. */
  modules_before: z.object({ unfinished_modules: z.array(text), missing_modules: z.array(text).nullable() }).optional(),
  /** What the work was for is done and stays: only tidying up is left. */
  committed: mark,
  /** The operation is being undone: its steps must not add anything. */
  undoing: mark,
  /** What it found out is recorded, in this one change. */
  recorded: mark,
  /** A retry of the request got its success: the operation cannot be withdrawn. */
  confirmed: mark,
});

export type OperationCore = z.infer<typeof OperationCore>;

export const OperationRecord = stored(Operation.omit({ status: true, instance_id: true })).extend({
  ...OperationCore.shape,
});

export type OperationRecord = z.infer<typeof OperationRecord>;
