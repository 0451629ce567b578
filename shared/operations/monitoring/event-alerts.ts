// Alerts that follow from events: failed operations and drills, overdue backups, resources that are gone, and changed settings.
// The outbox brings each event at least once, so that an alert of a failure has an ID that follows from its event: it opens once,
// also if the event comes again when the alert is closed.
import { createHash } from "node:crypto";
import { find } from "../../data/table.ts";
import { type AlertKind, listThresholds } from "../../domain/alerts.ts";
import { idFrom, isId } from "../../domain/ids.ts";
import { DRILL, OPERATION, type OperationType } from "../../domain/lifecycle.ts";
import { backupRef } from "../../records/backups.ts";
import { instanceRef } from "../../records/instances.ts";
import { findOperationCore } from "../../records/operations.ts";
import type { EventRecord } from "../../records/schemas/event.ts";
import type { InstanceRecord } from "../../records/schemas/instance.ts";
import type { ServerRecord } from "../../records/schemas/server.ts";
import { serverRef } from "../../records/servers.ts";
import {
  type AccountAlerts,
  closeAlertsOf,
  closeOpenAlert,
  closeAlertsNotInSettings,
  evaluateAlert,
  openAlertOnce,
} from "./alerts.ts";

const END_OF_OPERATION = /\.(?:succeeded|failed)$/;
const OTHERS = ["settings.update", "instance.overdue", "backup_policy.update", "backup_policy.delete", "backup.drill_failed"];

/** Whether an event may open or close an alert; entries of earlier versions do not say their type. */
export const concernsAlerts = (type: string): boolean => type === "" || END_OF_OPERATION.test(type) || OTHERS.includes(type);

export async function followEvent(alerts: AccountAlerts, event: EventRecord): Promise<void> {
  const { type, resource, data, operation_id } = event;
  if (type === "settings.update") return closeAlertsNotInSettings(alerts);
  if (type === "backup.drill_failed") return followFailedDrill(alerts, event);
  const operation = data?.operation;
  if (operation !== undefined && operation.status === OPERATION.succeeded && isDeletion(operation.type))
    return closeAlertsOf(alerts, resource.id);
  const subject = await findSubject(event);
  if (subject === undefined) return;
  if (operation !== undefined) {
    const step = operation.type;
    const open = alerts.open.find(
      (each) => each.resource_id === subject.id && each.kind === "operation_failed" && each.step === step,
    );
    if (operation.status === OPERATION.failed) {
      if (open === undefined) await openFailure(alerts, event, { kind: "operation_failed", subject, step, operation_id });
    } else if (open !== undefined) await closeOpenAlert(alerts, open);
  }
  if (subject.type === "instance") await evaluateInstanceAlerts(alerts, subject.instance);
}

const DELETIONS: readonly string[] = ["server.delete", "instance.delete"] satisfies OperationType[];
const isDeletion = (type: string): boolean => DELETIONS.includes(type);

type Subject =
  | { type: "server"; id: string; name: string; server: ServerRecord }
  | { type: "instance"; id: string; name: string; instance: InstanceRecord };

/** What an event is about: of a backup's its instance, or the server that an archive is imported on. */
async function findSubject({ account_id, resource, operation_id }: EventRecord): Promise<Subject | undefined> {
  const ids = [resource.id];
  if (resource.type === "backup" && operation_id !== null)
    ids.push(...((await findOperationCore(account_id, operation_id))?.concerns ?? []));
  const instanceId = ids.find((id) => isId("instance", id));
  if (instanceId !== undefined) {
    const instance = await find(instanceRef(account_id, instanceId));
    return instance && { type: "instance", id: instance.id, name: instance.name, instance };
  }
  const serverId = ids.find((id) => isId("server", id));
  const server = serverId === undefined ? undefined : await find(serverRef(account_id, serverId));
  return server && { type: "server", id: server.id, name: server.name, server };
}

interface Failure {
  kind: AlertKind;
  subject: { type: "server" | "instance"; id: string; name: string };
  step: string;
  operation_id: string | null;
}

async function openFailure(
  alerts: AccountAlerts,
  { id: eventId, created_at }: EventRecord,
  { kind, subject: { type, id, name }, step, operation_id }: Failure,
): Promise<void> {
  if (listThresholds(kind, alerts.settings).length === 0) return;
  const digest = createHash("sha256").update(`${kind} ${eventId}`).digest();
  const alert = {
    id: idFrom("alert", Date.parse(created_at), digest.subarray(0, 10)),
    kind,
    resource: { type, id, name },
    step,
    value: null,
    threshold: null,
    operation_id,
  };
  await openAlertOnce(alerts, alert, { mayBeHeld: true });
}

async function followFailedDrill(alerts: AccountAlerts, event: EventRecord): Promise<void> {
  const { account_id, resource } = event;
  const backup = await find(backupRef(account_id, resource.id));
  const instance = backup?.instance_id == null ? undefined : await find(instanceRef(account_id, backup.instance_id));
  if (instance === undefined) return;
  const subject = { type: "instance", id: instance.id, name: instance.name } as const;
  await openFailure(alerts, event, { kind: "drill_failed", subject, step: "", operation_id: null });
}

/** What an instance's record says. */
export async function evaluateInstanceAlerts(
  alerts: AccountAlerts,
  { id, name, protection_status, last_drill, operation_id }: InstanceRecord,
): Promise<void> {
  const isOverdue = protection_status === "overdue";
  const isKnown = alerts.open.some((each) => each.resource_id === id && each.kind === "backup_overdue");
  // The end of the operation that holds it is an event, too.
  if (operation_id === null || (isKnown && !isOverdue))
    await evaluateAlert(alerts, { kind: "backup_overdue", type: "instance", id, measured: isOverdue, name: () => name });
  const drill = alerts.open.find((each) => each.resource_id === id && each.kind === "drill_failed");
  if (drill !== undefined && last_drill === DRILL.passed) await closeOpenAlert(alerts, drill);
}
