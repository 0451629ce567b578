// What a bulk action would do, for its dry run: every resource that it would change or delete now, and why it would leave others
// as they are.
import { isDeepStrictEqual } from "node:util";
import { PolicyFields } from "../api/backup-policy.ts";
import type { Effect, Forecast } from "../api/dry-run.ts";
import { deployChoices } from "../api/deploy-choices.ts";
import { ApiError } from "../api/errors.ts";
import { type Item, keyString } from "../data/keys.ts";
import { listOfParent } from "../data/lists-of-parents.ts";
import { readAll } from "../data/table.ts";
import { nameOfBackup } from "../domain/backup-name.ts";
import { changedLabels, type LabelsChange } from "../domain/labels.ts";
import { type InstanceAction, SERVER_ACTIONS, type ServerAction, SERVING } from "../domain/lifecycle.ts";
import { LISTED_MAX } from "../domain/limits.ts";
import type { Sentence } from "../domain/sentences.ts";
import { concurrently } from "../platform/concurrently.ts";
import { requireDeletable, requireDrillable } from "../records/backups.ts";
import { codeRef, emptyCode } from "../records/code.ts";
import { requireAllowed } from "../records/instances.ts";
import { policyRef } from "../records/policies.ts";
import { BackupRecord } from "../records/schemas/backup.ts";
import type { Caller } from "../records/schemas/caller.ts";
import { CodeRecord } from "../records/schemas/code.ts";
import type { InstanceRecord } from "../records/schemas/instance.ts";
import { ServerRecord } from "../records/schemas/server.ts";
import { requireUsable, serverRef } from "../records/servers.ts";
import type { Selected } from "./bulk-selection.ts";
import { listEffects, warnOfChoices } from "./deploy-forecast.ts";
import { BACKUP, effect, forecast, INSTANCE, mayRead, NEW_BACKUP, sentence, SERVER } from "./forecast.ts";
import { effectsOfPolicy } from "./policy-forecast.ts";
import { planServerAction } from "./server-work.ts";

interface Planned {
  action: string;
  parameters: Record<string, unknown>;
  selected: Selected;
}

/** What would happen to one resource; nothing, if it cannot be done now. */
interface Outcome {
  effects: Effect[];
  warning?: Sentence;
}

export async function forecastBulk(reader: Caller, { action, parameters, selected }: Planned): Promise<Forecast> {
  const shows = mayRead(reader, selected.type);
  const outcomes = await outcomesOf(reader, { action, parameters, selected });
  const onServers = selected.type === "server" && isServerAction(action);
  const onInstances = selected.type === "instance" && INTERRUPTING.includes(action);
  const serves = onServers || (onInstances && selected.records.some(({ state }) => SERVING.includes(state)));
  const interrupts = onServers || onInstances;
  return forecast(
    outcomes.flatMap(({ effects }) => effects),
    {
      downtime_seconds: interrupts && (serves || !shows) ? null : 0,
      disk_bytes: FILLING.includes(action) ? null : 0,
      warnings: [
        ...(action === "deploy" ? warnOfChoices(deployChoices().parse(parameters)) : []),
        ...(shows ? outcomes.flatMap(({ warning }) => warning ?? []) : []),
      ],
    },
  );
}

const INTERRUPTING = ["stop", "restart", "deploy", "delete"];
const FILLING = ["backup", "drill", "deploy"];

async function outcomesOf(reader: Caller, { action, parameters, selected }: Planned): Promise<Outcome[]> {
  switch (selected.type) {
    case "server":
      return isServerAction(action)
        ? outcomesOnServers(reader, action, selected.records)
        : selected.records.map(({ id, labels }) => ({ effects: [relabeling({ type: SERVER, id }, labels, parameters)] }));
    case "instance":
      return outcomesOfInstances(reader, { action, parameters }, selected.records);
    case "backup":
      return selected.records.map((backup) => outcomeOfBackup(action, parameters, backup));
    default:
      throw new Error(`No such type: ${String(selected satisfies never)}`);
  }
}

const relabeling = (resource: Effect["resource"], labels: Record<string, string>, change: LabelsChange): Effect =>
  effect("update", resource, isDeepStrictEqual(changedLabels(labels, change), labels) ? "nothing_changed" : "labels_changed");

/** The effects, or the reason why there are none. */
function unlessRefused(name: string, require: () => void, effects: Effect[]): Outcome {
  try {
    require();
    return { effects };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { effects: [], warning: sentence("bulk_not_now", { name, why: error.message }) };
  }
}

const isServerAction = (action: string): action is ServerAction => SERVER_ACTIONS.some((each) => each === action);

async function outcomesOnServers(reader: Caller, action: ServerAction, servers: readonly ServerRecord[]): Promise<Outcome[]> {
  const planned = new Map<string, Effect[]>();
  await concurrently(AT_ONCE, servers, async (server) => {
    planned.set(server.id, (await planServerAction(reader, server, action)).effects);
  });
  return servers.map((server) => unlessRefused(server.name, () => requireUsable(server), planned.get(server.id) ?? []));
}

const ALLOWED: Readonly<Record<string, InstanceAction>> = {
  start: "start",
  stop: "stop",
  restart: "restart",
  backup: "backup",
  deploy: "deploy",
  delete: "delete",
};

async function outcomesOfInstances(
  reader: Caller,
  { action, parameters }: Pick<Planned, "action" | "parameters">,
  instances: readonly InstanceRecord[],
): Promise<Outcome[]> {
  const accountId = instances[0]?.account_id ?? "";
  const refs = instances.flatMap(({ id, server_id }) => [
    serverRef(accountId, server_id).key,
    (action === "deploy" ? codeRef : policyRef)(accountId, id).key,
  ]);
  const items = await readAll(refs, { consistent: false });
  const backups =
    action === "delete" && parameters["with_backups"] === true ? await backupsOf(instances) : new Map<string, BackupRecord[]>();
  return instances.flatMap((instance): Outcome[] => {
    const server = serverIn(items, instance);
    const hasPolicy = items.has(keyString(policyRef(accountId, instance.id).key));
    const allowed = ALLOWED[action];
    const outcome = unlessRefused(
      instance.name,
      () => {
        if (allowed === undefined) return;
        requireAllowed(instance, allowed);
        if (server !== undefined && allowed !== "delete") requireUsable(server);
      },
      action === "deploy"
        ? effectsOfDeploy(reader, parameters, instance, items)
        : effectsOnInstance(action, parameters, instance, hasPolicy),
    );
    const those = backups.get(instance.id) ?? [];
    return outcome.effects.length === 0 ? [outcome] : [outcome, ...those.map((backup) => outcomeOfBackup("delete", {}, backup))];
  });
}

function serverIn(items: ReadonlyMap<string, Item>, { account_id, server_id }: InstanceRecord): ServerRecord | undefined {
  const item = items.get(keyString(serverRef(account_id, server_id).key));
  return item && ServerRecord.parse(item);
}

function effectsOnInstance(
  action: string,
  parameters: Record<string, unknown>,
  { id, labels }: InstanceRecord,
  hasPolicy: boolean,
): Effect[] {
  const resource = { type: INSTANCE, id };
  switch (action) {
    case "start":
      return [effect("start", resource, "erp_started")];
    case "stop":
      return [effect("stop", resource, "erp_stopped")];
    case "restart":
      return [effect("restart", resource, "erp_restarted")];
    case "backup":
      return [effect("create", NEW_BACKUP, "backup_taken")];
    case "set_policy":
      return effectsOfPolicy(id, PolicyFields.parse(parameters));
    case "set_labels":
      return [relabeling(resource, labels, parameters)];
    case "delete":
      return [effect("delete", resource, "erp_deleted"), ...(hasPolicy ? [policyDeleted(id)] : [])];
    case "delete_policy":
      return [hasPolicy ? policyDeleted(id) : effect("update", resource, "nothing_changed")];
    default:
      throw new Error(`No such action: ${action}`);
  }
}

function effectsOfDeploy(
  reader: Caller,
  parameters: Record<string, unknown>,
  instance: InstanceRecord,
  items: ReadonlyMap<string, Item>,
): Effect[] {
  const code = items.get(keyString(codeRef(instance.account_id, instance.id).key));
  return listEffects(
    reader,
    instance,
    code === undefined ? emptyCode(instance) : CodeRecord.parse(code),
    deployChoices().parse(parameters),
  );
}

const policyDeleted = (id: string): Effect => effect("delete", { type: "backup_policy", id }, "policy_deleted");

function outcomeOfBackup(action: string, parameters: Record<string, unknown>, backup: BackupRecord): Outcome {
  const resource = { type: BACKUP, id: backup.id };
  const name = `${nameOfBackup(backup)}, ${backup.completed_at ?? backup.created_at}`;
  switch (action) {
    case "lock":
      return { effects: [effect("update", resource, backup.locked ? "nothing_changed" : "backup_locked")] };
    case "unlock":
      return { effects: [effect("update", resource, backup.locked ? "backup_unlocked" : "nothing_changed")] };
    case "delete":
      return unlessRefused(name, () => requireDeletable(backup), [effect("delete", resource, "backup_deleted")]);
    case "drill":
      return unlessRefused(name, () => requireDrillable(backup), [effect("update", resource, "backup_drilled")]);
    case "set_labels":
      return { effects: [relabeling(resource, backup.labels, parameters)] };
    default:
      throw new Error(`No such action: ${action}`);
  }
}

const AT_ONCE = 10;

async function backupsOf(instances: readonly InstanceRecord[]): Promise<Map<string, BackupRecord[]>> {
  const found = new Map<string, BackupRecord[]>();
  await concurrently(AT_ONCE, instances, async ({ account_id, id }) => {
    const list = { kind: "backup", accountId: account_id, schema: BackupRecord } as const;
    found.set(id, (await listOfParent({ ...list, parentId: id }, { per_page: LISTED_MAX })).items);
  });
  return found;
}
