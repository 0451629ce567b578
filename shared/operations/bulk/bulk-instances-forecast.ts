// What a bulk action would do with instances, for its dry run.
import { isDeepStrictEqual } from "node:util";
import { PolicyFields } from "../../api/backup-policy.ts";
import { deployChoices } from "../../api/deploy-choices.ts";
import { type Item, keyString } from "../../data/keys.ts";
import { listChildren } from "../../data/child-lists.ts";
import { readAll } from "../../data/table.ts";
import { type InstanceAction, RESTORABLE, statesFor } from "../../domain/lifecycle.ts";
import { LISTED_MAX } from "../../domain/limits.ts";
import { codeRef, emptyCode } from "../../records/code.ts";
import { requireAllowed, requireRenamable } from "../../records/instances.ts";
import { policyRef } from "../../records/policies.ts";
import { BackupRecord } from "../../records/schemas/backup.ts";
import { PolicyRecord } from "../../records/schemas/backup-policy.ts";
import type { Caller } from "../../records/schemas/caller.ts";
import { CodeRecord } from "../../records/schemas/code.ts";
import type { InstanceRecord } from "../../records/schemas/instance.ts";
import { ServerRecord } from "../../records/schemas/server.ts";
import { requireUsable, serverRef } from "../../records/servers.ts";
import { isFirstRunning, waitingBackup } from "../backups/begin-backup.ts";
import { outcomeOfBackup } from "./bulk-backups-forecast.ts";
import {
  type RequestedAction,
  holdOf,
  type Outcome,
  outcomeOrWarning,
  outcomesOfEach,
  outcomeWith,
  relabeling,
  released,
  requireLabels,
} from "./bulk-outcome.ts";
import { keepsBackup } from "./bulk-warnings.ts";
import { estimateRoom, listEffects } from "../forecasts/deploy-forecast.ts";
import { BACKUP, effect, INSTANCE, mayRead, NEW_BACKUP, type Reader, sentence } from "../forecasts/forecast.ts";
import { effectsOfDeletion } from "../forecasts/instance-forecast.ts";
import { newestBackup } from "../forecasts/earlier-operations.ts";
import { isNeverInstalled, policyWith } from "../backups/policy-changes.ts";
import { effectsOnWaiting, forecastPolicy, warnOfDays } from "../forecasts/policy-forecast.ts";

const ALLOWED: Readonly<Record<string, InstanceAction>> = {
  start: "start",
  stop: "stop",
  restart: "restart",
  backup: "backup",
  deploy: "deploy",
  delete: "delete",
};

export async function outcomesOfInstances(
  reader: Caller,
  doing: RequestedAction,
  instances: readonly InstanceRecord[],
): Promise<Outcome[]> {
  const accountId = instances[0]?.account_id ?? "";
  const beside = doing.action === "deploy" ? codeRef : policyRef;
  const refs = instances.flatMap(({ id, server_id }) => [serverRef(accountId, server_id).key, beside(accountId, id).key]);
  const items = await readAll(refs, { consistent: false });
  return outcomesOfEach(instances, (instance) =>
    outcomeOrWarning(
      reader,
      { type: INSTANCE, name: instance.name, hold: ALLOWED[doing.action] && holdOf(instance, serverIn(items, instance)) },
      () => requireDoable(doing, instance, items),
      () => outcomeOfInstance(reader, doing, instance, items),
    ),
  );
}

type Items = ReadonlyMap<string, Item>;

function requireDoable({ action, parameters }: RequestedAction, instance: InstanceRecord, items: Items): void {
  const allowed = ALLOWED[action];
  const isHeld = instance.operation_id !== null;
  if (allowed === undefined || isHeld) requireRenamable(instance);
  if (allowed === undefined) {
    if (action === "set_labels") requireLabels(instance.labels, parameters);
    return;
  }
  // Nobody knows yet what follows from the state that an operation has given it.
  if (!isHeld || statesFor("delete").includes(instance.state)) requireAllowed(released(instance), allowed);
  const server = serverIn(items, instance);
  if (server !== undefined && allowed !== "delete") requireUsable(released(server));
}

function serverIn(items: Items, { account_id, server_id }: InstanceRecord): ServerRecord | undefined {
  const item = items.get(keyString(serverRef(account_id, server_id).key));
  return item && ServerRecord.parse(item);
}

async function outcomeOfInstance(
  reader: Caller,
  { action, parameters }: RequestedAction,
  instance: InstanceRecord,
  items: Items,
): Promise<Outcome> {
  const { account_id, id, labels } = instance;
  const resource = { type: INSTANCE, id };
  const item = items.get(keyString(policyRef(account_id, id).key));
  const policy = item && PolicyRecord.parse(item);
  switch (action) {
    case "start":
      return outcomeWith(effect("start", resource, "erp_started"));
    case "stop":
      return outcomeWith(effect("stop", resource, "erp_stopped"));
    case "restart":
      return outcomeWith(effect("restart", resource, "erp_restarted"));
    case "backup":
      return {
        ...outcomeWith(effect("create", NEW_BACKUP, "backup_taken")),
        room: mayRead(reader, BACKUP) ? ((await newestBackup(instance))?.size_bytes ?? 0) : 0,
      };
    case "deploy":
      return outcomeOfDeploy(reader, parameters, instance, items);
    case "set_policy":
      return outcomeOfSetting(reader, instance, policy, parameters);
    case "set_labels":
      return outcomeWith(relabeling(resource, labels, parameters));
    case "delete":
      return outcomeOfDeletion(reader, parameters, instance, { server: serverIn(items, instance), policy });
    case "delete_policy":
      return outcomeWith(
        ...(policy === undefined
          ? [effect("update", resource, "nothing_changed")]
          : [
              effect("delete", { type: "backup_policy", id }, "policy_deleted"),
              ...effectsOnWaiting(reader, await waitingBackup(policy)),
            ]),
      );
    default:
      throw new Error(`No such action: ${action}`);
  }
}

async function outcomeOfSetting(
  reader: Reader,
  instance: InstanceRecord,
  policy: PolicyRecord | undefined,
  parameters: Record<string, unknown>,
): Promise<Outcome> {
  const [waiting, firstIsRunning] = await Promise.all([waitingBackup(policy), isFirstRunning(instance)]);
  const fields = PolicyFields.parse(parameters);
  const planned = policyWith({ instance, policy, firstIsRunning }, fields, Date.now());
  const { effects } = await forecastPolicy(reader, instance, planned, waiting);
  const warnings = warnOfDays(planned.schedule);
  if (policy !== undefined && mayRead(reader, BACKUP) && !isDeepStrictEqual({ ...policy, ...fields }, policy))
    warnings.push(sentence("bulk_policy_replaced", { names: instance.name }));
  if (isNeverInstalled(instance) && mayRead(reader, INSTANCE))
    warnings.push(sentence("bulk_never_installed", { names: instance.name }));
  return { effects, warnings };
}

/** Returns the outcome of deleting an instance with its backups: each is named for whoever may read them. */
async function outcomeOfDeletion(
  reader: Reader,
  { with_backups }: Record<string, unknown>,
  instance: InstanceRecord,
  beside: { server: ServerRecord | undefined; policy: PolicyRecord | undefined },
): Promise<Outcome> {
  const effects = await effectsOfDeletion(reader, instance, beside);
  if (!mayRead(reader, BACKUP)) {
    const backups = effect("delete", { type: BACKUP, id: null }, "its_backups_deleted");
    return { effects: with_backups === true ? [...effects, backups] : effects, warnings: [sentence("unsaved_not_recoverable")] };
  }
  const lost = mayRead(reader, INSTANCE) ? [sentence("bulk_no_backup_left", { names: instance.name })] : [];
  if (with_backups !== true) return { effects, warnings: (await keepsBackup(instance)) ? [] : lost };
  const { account_id: accountId, id: parentId } = instance;
  const list = { kind: "backup", accountId, parentId, schema: BackupRecord } as const;
  const { items } = await listChildren(list, { per_page: LISTED_MAX });
  // The one that waits goes with the instance.
  const otherBackups = items.filter(({ id }) => !effects.some(({ resource }) => resource.id === id));
  const outcomes = await outcomesOfEach(otherBackups, (backup) =>
    outcomeOfBackup(reader, { action: "delete", parameters: {} }, backup),
  );
  // What is only held is waited for, and deleted then.
  const hasLocked = otherBackups.some(({ state, locked }) => RESTORABLE.includes(state) && locked);
  return {
    effects: [...effects, ...outcomes.flatMap((each) => each.effects)],
    warnings: [...outcomes.flatMap(({ warnings }) => warnings), ...(hasLocked ? [] : lost)],
  };
}

async function outcomeOfDeploy(
  reader: Caller,
  parameters: Record<string, unknown>,
  instance: InstanceRecord,
  items: Items,
): Promise<Outcome> {
  const item = items.get(keyString(codeRef(instance.account_id, instance.id).key));
  const code = item === undefined ? emptyCode(instance) : CodeRecord.parse(item);
  const choices = deployChoices().parse(parameters);
  return {
    ...outcomeWith(...listEffects(reader, instance, code, choices)),
    room: mayRead(reader, INSTANCE) ? await estimateRoom(instance, choices) : 0,
  };
}
