// What an alert says.
import type { Alert } from "../../../shared/api/alerts.ts";
import { ALERT_KINDS, isAlertKind } from "../../../shared/domain/alerts.ts";
import { text } from "../messages/text.ts";

/** A newer service may have more kinds than this page. */
export function kindInWords(kind: string): string {
  return isAlertKind(kind) ? text.alerts.kinds[kind] : kind;
}

/** What was measured, against the threshold; empty if nothing is measured. */
export function valueInWords({ kind, value, threshold }: Pick<Alert, "kind" | "value" | "threshold">): string {
  if (value === null || threshold === null) return "";
  const { unit, opens } = (isAlertKind(kind) && ALERT_KINDS[kind].measured) || {};
  const say = text.alerts.values;
  if (unit === "days") return say.days(value, threshold);
  if (unit === "minutes") return say.minutes(value, threshold);
  if (kind === "error_rate") return say.failing(value, threshold);
  return opens === "below" ? say.free(value, threshold) : say.used(value, threshold);
}
