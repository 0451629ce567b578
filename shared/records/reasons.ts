// Why a record has its status: the English sentence, which every version stores, and its reason beside it.
import type { Drill } from "../api/drill.ts";
import { inEnglish, type Reason, reasonIn } from "../domain/reasons.ts";
import type { StoredReason } from "./schemas/fields.ts";

export interface StatusReason {
  status_reason: string | null;
  reason: StoredReason;
}

export const NO_REASON: StatusReason = { status_reason: null, reason: null };

export const statusReason = (reason: Reason): StatusReason => withMessage(explain(reason));

/** A message, without a reason if nobody knows that of it. */
export interface Explained {
  message: string;
  reason: Reason | null;
}

export const explain = (reason: Reason): Explained => ({ message: inEnglish(reason), reason });

export const withMessage = ({ message, reason }: Explained): StatusReason => ({
  status_reason: message,
  reason: reason && { ...reason, sentence: message },
});

/** Why a run of a policy has no backup; null if it has one. */
export const lastReason = (explanation: Explained | null) => ({
  reason: explanation?.message ?? null,
  reason_details: explanation?.reason ?? null,
});

/** An earlier version replaces the sentence alone, or has stored it alone. */
export function shownReason({ status_reason, reason }: StatusReason): Reason | null {
  if (status_reason === null) return null;
  return reason?.sentence === status_reason ? reason : reasonIn(status_reason);
}

/** The checks of a restore drill with the reasons of those that are a machine's, or were stored by an earlier version. */
export const withReasons = ({ checks, ...drill }: Drill): Drill => ({
  ...drill,
  checks: checks.map((check) => ({ ...check, reason: check.reason ?? reasonIn(check.detail) })),
});
