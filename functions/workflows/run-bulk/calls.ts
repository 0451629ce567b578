// What a bulk action does with one resource: the request for it, answered by the endpoint's own handler.
import * as z from "zod";
import { bulkAction } from "../../../shared/api/bulk-actions.ts";
import * as backupPolicy from "../../../shared/api/backup-policy.ts";
import * as backups from "../../../shared/api/backups.ts";
import * as deploys from "../../../shared/api/deploys.ts";
import * as instances from "../../../shared/api/instances.ts";
import * as servers from "../../../shared/api/servers.ts";
import { changedLabels, type LabelsChange } from "../../../shared/domain/labels.ts";
import type { ResourceType, ServerAction } from "../../../shared/domain/lifecycle.ts";
import type { Permission } from "../../../shared/api/permissions.ts";
import { isId } from "../../../shared/domain/ids.ts";
import { backupVersion, getBackup } from "../../../shared/records/backups.ts";
import { getInstance, instanceVersion } from "../../../shared/records/instances.ts";
import type { BulkRecord } from "../../../shared/records/schemas/bulk.ts";
import { getServer, serverVersion } from "../../../shared/records/servers.ts";
import { callInProcess, type InProcessRequest, type InProcessResponse } from "../../../shared/runtime/in-process.ts";
import { handler as setPolicy } from "../../backup-policy/update.ts";
import { handler as deletePolicy } from "../../backup-policy/delete.ts";
import { handler as createBackup } from "../../backups/create.ts";
import { handler as deleteBackup } from "../../backups/delete.ts";
import { handler as drillBackup } from "../../backups/drill.ts";
import { handler as updateBackup } from "../../backups/update.ts";
import { handler as createDeploy } from "../../deploys/create.ts";
import { handler as actOnInstance } from "../../instances/act.ts";
import { handler as deleteInstance } from "../../instances/delete.ts";
import { handler as updateInstance } from "../../instances/update.ts";
import { handler as actOnServer } from "../../servers/act.ts";
import { handler as updateServer } from "../../servers/update.ts";

type Request = Omit<InProcessRequest, "body" | "ifMatch">;
type Call = (request: Request, parameters: Record<string, unknown>) => Promise<InProcessResponse>;

interface Action {
  call: Call;
  /** The work goes on after the response, which names its operation. */
  begins?: true;
  /** What is gone is what was wanted. */
  removes?: true;
  /** It counts as a deletion, which have a pace of their own. */
  paced?: true;
  /** How many a server takes at once, if fewer than of other actions. */
  perServer?: number;
}

// Declared once: an endpoint builds its schemas.
const [policySet, policyDeleted] = [backupPolicy.update(), backupPolicy.delete()];
const [backupCreated, backupChanged, backupDeleted, backupDrilled] = [
  backups.create(),
  backups.update(),
  backups.delete(),
  backups.drill(),
];
const [instanceActed, instanceChanged, instanceDeleted] = [instances.act(), instances.update(), instances.delete()];
const deployed = deploys.create();
const [serverActed, serverChanged] = [servers.act(), servers.update()];

const acting = (action: "start" | "stop" | "restart"): Action => ({
  call: (request) => callInProcess(actOnInstance, instanceActed, { ...request, body: { action } }),
  begins: true,
});

const actingOnServer = (action: ServerAction): Action => ({
  call: (request) => callInProcess(actOnServer, serverActed, { ...request, body: { action } }),
  begins: true,
});

const locking = (locked: boolean): Action => ({
  call: (request) => callInProcess(updateBackup, backupChanged, { ...request, body: { locked } }),
});

const NOTHING_CHANGED: InProcessResponse = { data: null };

/** The labels made from the version that they replace, so that nothing is lost that somebody else changes meanwhile. */
async function relabel(
  { labels, etag }: { labels: Record<string, string>; etag: string },
  change: LabelsChange,
  send: (body: { labels: Record<string, string> }, ifMatch: string) => Promise<InProcessResponse>,
): Promise<InProcessResponse> {
  const changed = changedLabels(labels, change);
  const isSame =
    Object.keys(changed).length === Object.keys(labels).length &&
    Object.entries(changed).every(([key, value]) => labels[key] === value);
  return isSame ? NOTHING_CHANGED : send({ labels: changed }, etag);
}

export const deletingBackup: Call = (request) => callInProcess(deleteBackup, backupDeleted, request);

const ACTIONS: Record<ResourceType, Readonly<Record<string, Action>>> = {
  instance: {
    start: acting("start"),
    stop: acting("stop"),
    restart: acting("restart"),
    backup: {
      call: (request, body) => callInProcess(createBackup, backupCreated, { ...request, body }),
      begins: true,
    },
    deploy: {
      call: (request, body) => callInProcess(createDeploy, deployed, { ...request, body }),
      begins: true,
    },
    set_policy: { call: (request, body) => callInProcess(setPolicy, policySet, { ...request, body }) },
    delete_policy: { call: (request) => callInProcess(deletePolicy, policyDeleted, request), removes: true },
    set_labels: {
      call: async (request, change) => {
        const instance = await getInstance(request.caller.account_id, request.id);
        const { etag } = instanceVersion(instance);
        return relabel({ labels: instance.labels, etag }, change, (body, ifMatch) =>
          callInProcess(updateInstance, instanceChanged, { ...request, body, ifMatch }),
        );
      },
    },
    delete: {
      call: (request) => callInProcess(deleteInstance, instanceDeleted, request),
      begins: true,
      removes: true,
      paced: true,
    },
  },
  backup: {
    lock: locking(true),
    unlock: locking(false),
    delete: { call: deletingBackup, begins: true, removes: true, paced: true },
    drill: {
      call: (request, body) => callInProcess(drillBackup, backupDrilled, { ...request, body }),
      begins: true,
      perServer: 1,
    },
    set_labels: {
      call: async (request, change) => {
        const backup = await getBackup(request.caller.account_id, request.id);
        return relabel({ labels: backup.labels, etag: backupVersion(backup).etag }, change, (body, ifMatch) =>
          callInProcess(updateBackup, backupChanged, { ...request, body, ifMatch }),
        );
      },
    },
  },
  server: {
    reboot: actingOnServer("reboot"),
    update: actingOnServer("update"),
    set_labels: {
      call: async (request, change) => {
        const server = await getServer(request.caller.account_id, request.id);
        return relabel({ labels: server.labels, etag: serverVersion(server).etag }, change, (body, ifMatch) =>
          callInProcess(updateServer, serverChanged, { ...request, body, ifMatch }),
        );
      },
    },
  },
};

/** How the action of a bulk action works, and which permissions it needs. */
export function actionOf({ type, action, parameters }: BulkRecord): Action & { permissions: readonly Permission[] } {
  const [call, declared] = [ACTIONS[type][action], bulkAction(type, action)];
  if (call === undefined || declared === undefined) throw new Error(`No such bulk action: ${action} of ${type}`);
  return { ...call, permissions: declared.permissions(parameters) };
}

const Begun = z.object({ id: z.string(), operation_id: z.string().nullish() });

/** The operation that a response names: it is one itself, or has one. */
export function operationBegun(data: unknown): string {
  const { id, operation_id } = Begun.parse(data);
  if (isId("operation", id)) return id;
  if (typeof operation_id !== "string") throw new Error(`${id} has no operation`);
  return operation_id;
}
