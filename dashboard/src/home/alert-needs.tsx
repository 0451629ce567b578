// The open alerts among what needs a person, with their words, which the page loads if there are any.
import type { Alert } from "../../../shared/api/alerts.ts";
import { type AlertKind, isAlertKind } from "../../../shared/domain/alerts.ts";
import { kindInWords, valueInWords } from "../alerts/words.ts";
import { INSTANCE_NEEDS } from "../allowed/needs.ts";
import { lazily } from "../app/lazily.tsx";
import type { Messages } from "../messages/en/index.ts";
import { text } from "../messages/text.ts";
import { pageOf } from "../operations/pages.ts";
import { LinkAction, DialogAction } from "./need-actions.tsx";
import { NeedItem } from "./need.tsx";

const DialogOfListed = lazily(async () => (await import("../instances/dialogs.tsx")).DialogOfListed, "instances");

type Act = keyof Messages["home"]["needs"]["acts"];

/** What mends an instance: a dialog of it. */
const DIALOGS = { restart: "restart", quota: "edit" } as const;
/** Otherwise, the part of the resource's page where the person sees what to do; empty for the first one. */
const PARTS = { reason: "", dns: "", charts: "?tab=metrics", log: "?tab=logs" } as const satisfies Partial<Record<Act, string>>;

/** Actions for alerts that the page doesn't list elsewhere; a server that doesn't respond is listed as offline. */
const ACTS: Partial<Record<AlertKind, Act>> = {
  disk_free: "charts",
  disk_paused: "reason",
  memory_free: "charts",
  cpu: "charts",
  disk_quota: "quota",
  certificate: "dns",
  down: "restart",
  error_rate: "log",
};

export function AlertNeeds({ alerts }: { alerts: readonly Alert[] }) {
  return alerts.map((alert) => {
    const { id, kind, resource, opened_at: since } = alert;
    const need = { id, title: kindInWords(kind), sign: "warning" as const, resource, explanation: valueInWords(alert), since };
    return <NeedItem key={id} need={{ ...need, action: <ActOf alert={alert} /> }} />;
  });
}

function ActOf({ alert: { kind, resource } }: { alert: Alert }) {
  const act = isAlertKind(kind) ? ACTS[kind] : undefined;
  const page = pageOf(resource);
  if (act === undefined || page === undefined) return null;
  const say = text.home.needs;
  const words = { label: say.acts[act], ariaLabel: say.actOn(say.acts[act], resource.name) };
  if (act !== "restart" && act !== "quota") return <LinkAction href={`${page}${PARTS[act]}`} {...words} />;
  if (resource.type !== "instance") return null;
  const dialog = DIALOGS[act];
  return (
    <DialogAction needs={INSTANCE_NEEDS[dialog]} {...words}>
      {(onDismiss) => <DialogOfListed dialog={dialog} instance={resource} onDeleting={onDismiss} onDismiss={onDismiss} />}
    </DialogAction>
  );
}
