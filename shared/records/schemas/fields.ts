// Fields that stored records have in common. Each is built once: a function builds all schemas of its records when it starts.
import * as z from "zod";
import type { Labels } from "../../api/fields.ts";
import type { OperatedType, ResourceType } from "../../domain/lifecycle.ts";
import { Stamp } from "../../data/stamps.ts";
import { Reason } from "../../api/fields.ts";
import { openEnum } from "../../data/stored.ts";

export const text = z.string();
export const textOrNull = text.nullable();
export const noText = textOrNull.default(null);
export const maybeText = text.optional();
export const count = z.number().int();
export const counter = count.default(0);
export const maybeCount = count.optional();
export const mark = z.literal(true).optional();
export const resourceType = openEnum<ResourceType>();
export const operatedType = openEnum<OperatedType>();

/** Checked when they came in; records of before there were labels have none. */
export const labels = z.custom<Labels>().default({});

/** `sentence` is that of the reason: the record's own if no earlier version has replaced it since. */
export const StoredReason = Reason.extend({ sentence: text }).nullable();

export type StoredReason = z.infer<typeof StoredReason>;

export const listed = { account_id: text, number: text };
export const reason = StoredReason.default(null);
export const bytes = z.instanceof(Uint8Array);

/** The times when a credential's last counted requests came, in any order: a slot is free when its time is outside the window. */
export const slots = z.array(Stamp);
