// The open alerts among what needs a person, with their words, which the page loads if there are any.
import type { Alert } from "../../../shared/api/alerts.ts";
import { kindInWords, valueInWords } from "../alerts/words.ts";
import { NeedItem } from "./need.tsx";

export function AlertNeeds({ alerts }: { alerts: readonly Alert[] }) {
  return alerts.map((alert) => {
    const { id, kind, resource, opened_at: since } = alert;
    const need = { id, title: kindInWords(kind), sign: "warning" as const, resource, why: valueInWords(alert), since };
    return <NeedItem key={id} need={need} />;
  });
}
