// What a bulk action would do, for its dry run: every resource that it would change or delete now, and why it would leave others
// as they are.
import { isDeepStrictEqual } from "node:util";
import { PolicyFields } from "../api/backup-policy.ts";
import type { Effect, Forecast } from "../api/dry-run.ts";
import { deployChoices } from "../api/deploy-choices.ts";
import { ApiError, ERRORS } from "../api/errors.ts";
import { type Item, keyString } from "../data/keys.ts";
import { listOfParent } from "../data/lists-of-parents.ts";
import { readAll } from "../data/table.ts";
import { nameOfBackup } from "../domain/backup-name.ts";
import { changedLabels, type LabelsChange } from "../domain/labels.ts";
import { type InstanceAction, type ResourceType, SERVER_ACTIONS, type ServerAction, SERVING } from "../domain/lifecycle.ts";
import { LISTED_MAX } from "../domain/limits.ts";
import { withWhy } from "../domain/problems.ts";
import type { Sentence } from "../domain/sentences.ts";
import { concurrently } from "../platform/concurrently.ts";
import { requireDeletable, requireDrillable } from "../records/backups.ts";
import { codeRef, emptyCode } from "../records/code.ts";
import { requireAllowed } from "../records/instances.ts";
import { policyRef } from "../records/policies.ts";
import { BackupRecord } from "../records/schemas/backup.ts";
import { PolicyRecord } from "../records/schemas/backup-policy.ts";
import type { Caller } from "../records/schemas/caller.ts";
import { CodeRecord } from "../records/schemas/code.ts";
import type { InstanceRecord } from "../records/schemas/instance.ts";
import { ServerRecord } from "../records/schemas/server.ts";
import { requireUsable, serverRef } from "../records/servers.ts";
import { isFirstRunning, waitingBackup } from "./begin-backup.ts";
import type { Selected } from "./bulk-selection.ts";
import { listEffects, warnOfChoices } from "./deploy-forecast.ts";
import { BACKUP, effect, forecast, INSTANCE, mayRead, NEW_BACKUP, type Reader, sentence, SERVER } from "./forecast.ts";
import { effectsOfDeletion } from "./instance-forecast.ts";
import { policyWith } from "./policy-changes.ts";
import { effectsOnWaiting, forecastPolicy } from "./policy-forecast.ts";
import { planServerAction } from "./server-work.ts";

interface Planned {
  action: string;
  parameters: Record<string, unknown>;
  selected: Selected;
}

/** What would happen to one resource, or why nothing would. */
interface Outcome {
  effects: Effect[];
  warnings: Sentence[];
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
        ...outcomes.flatMap(({ warnings }) => warnings),
      ],
    },
  );
}

const INTERRUPTING = ["stop", "restart", "deploy", "delete"];
const FILLING = ["backup", "drill", "deploy"];

async function outcomesOf(reader: Caller, { action, parameters, selected }: Planned): Promise<Outcome[]> {
  switch (selected.type) {
    case "server":
      return outcomesOfEach(selected.records, (server) => outcomeOfServer(reader, { action, parameters }, server));
    case "instance":
      return outcomesOfInstances(reader, { action, parameters }, selected.records);
    case "backup":
      return outcomesOfEach(selected.records, (backup) => outcomeOfBackup(reader, { action, parameters }, backup));
    default:
      throw new Error(`No such type: ${String(selected satisfies never)}`);
  }
}

const AT_ONCE = 10;

/** In the order of the selection. */
async function outcomesOfEach<T extends { id: string }>(
  records: readonly T[],
  outcomeOf: (record: T) => Promise<Outcome>,
): Promise<Outcome[]> {
  const outcomes = new Map<string, Outcome>();
  await concurrently(AT_ONCE, records, async (record) => {
    outcomes.set(record.id, await outcomeOf(record));
  }).catch((error: unknown) => {
    throw error instanceof AggregateError ? error.errors[0] : error; // which may be an outage, and is told as one
  });
  return records.flatMap(({ id }) => outcomes.get(id) ?? []);
}

const only = (...effects: Effect[]): Outcome => ({ effects, warnings: [] });

const relabeling = (resource: Effect["resource"], labels: Record<string, string>, change: LabelsChange): Effect =>
  effect("update", resource, isDeepStrictEqual(changedLabels(labels, change), labels) ? "nothing_changed" : "labels_changed");

/** What happens unless the record's state does not allow it; then why, for whoever may read the record. */
async function unlessRefused(
  reader: Reader,
  { type, name }: { type: ResourceType; name: string },
  require: () => void,
  outcome: () => Outcome | Promise<Outcome>,
): Promise<Outcome> {
  try {
    require();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return {
      effects: [],
      warnings: mayRead(reader, type) ? [sentence("bulk_not_now", withWhy({ name }, why(reader, error)))] : [],
    };
  }
  return outcome();
}

/** Another kind of record may be the reason, such as an instance's server. */
const why = (reader: Reader, { about, message, code }: ApiError): string =>
  about === undefined || mayRead(reader, about.kind) ? message : (about.otherwise ?? ERRORS[code].message);

const isServerAction = (action: string): action is ServerAction => SERVER_ACTIONS.some((each) => each === action);

type Doing = Pick<Planned, "action" | "parameters">;

async function outcomeOfServer(reader: Caller, { action, parameters }: Doing, server: ServerRecord): Promise<Outcome> {
  if (!isServerAction(action)) return only(relabeling({ type: SERVER, id: server.id }, server.labels, parameters));
  const named = { type: SERVER, name: server.name };
  return unlessRefused(
    reader,
    named,
    () => requireUsable(server),
    async () => only(...(await planServerAction(reader, server, action)).effects),
  );
}

const ALLOWED: Readonly<Record<string, InstanceAction>> = {
  start: "start",
  stop: "stop",
  restart: "restart",
  backup: "backup",
  deploy: "deploy",
  delete: "delete",
};

async function outcomesOfInstances(reader: Caller, doing: Doing, instances: readonly InstanceRecord[]): Promise<Outcome[]> {
  const accountId = instances[0]?.account_id ?? "";
  const beside = doing.action === "deploy" ? codeRef : policyRef;
  const refs = instances.flatMap(({ id, server_id }) => [serverRef(accountId, server_id).key, beside(accountId, id).key]);
  const items = await readAll(refs, { consistent: false });
  return outcomesOfEach(instances, (instance) =>
    unlessRefused(
      reader,
      { type: INSTANCE, name: instance.name },
      () => requireDoable(doing.action, instance, items),
      () => outcomeOfInstance(reader, doing, instance, items),
    ),
  );
}

type Items = ReadonlyMap<string, Item>;

function requireDoable(action: string, instance: InstanceRecord, items: Items): void {
  const allowed = ALLOWED[action];
  if (allowed === undefined) return;
  requireAllowed(instance, allowed);
  const server = serverIn(items, instance);
  if (server !== undefined && allowed !== "delete") requireUsable(server);
}

function serverIn(items: Items, { account_id, server_id }: InstanceRecord): ServerRecord | undefined {
  const item = items.get(keyString(serverRef(account_id, server_id).key));
  return item && ServerRecord.parse(item);
}

async function outcomeOfInstance(
  reader: Caller,
  { action, parameters }: Doing,
  instance: InstanceRecord,
  items: Items,
): Promise<Outcome> {
  const { account_id, id, labels } = instance;
  const resource = { type: INSTANCE, id };
  const item = items.get(keyString(policyRef(account_id, id).key));
  const policy = item && PolicyRecord.parse(item);
  switch (action) {
    case "start":
      return only(effect("start", resource, "erp_started"));
    case "stop":
      return only(effect("stop", resource, "erp_stopped"));
    case "restart":
      return only(effect("restart", resource, "erp_restarted"));
    case "backup":
      return only(effect("create", NEW_BACKUP, "backup_taken"));
    case "deploy":
      return only(...effectsOfDeploy(reader, parameters, instance, items));
    case "set_policy":
      return only(...(await effectsOfSetting(reader, instance, policy, parameters)));
    case "set_labels":
      return only(relabeling(resource, labels, parameters));
    case "delete":
      return outcomeOfDeletion(reader, parameters, instance, { server: serverIn(items, instance), policy });
    case "delete_policy":
      return only(
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

async function effectsOfSetting(
  reader: Reader,
  instance: InstanceRecord,
  policy: PolicyRecord | undefined,
  parameters: Record<string, unknown>,
): Promise<Effect[]> {
  const [waiting, firstIsRunning] = await Promise.all([waitingBackup(policy), isFirstRunning(instance)]);
  const planned = policyWith({ instance, policy, firstIsRunning }, PolicyFields.parse(parameters), Date.now());
  return (await forecastPolicy(reader, instance, planned, waiting)).effects;
}

/** With its backups: each by name for whoever may read them. */
async function outcomeOfDeletion(
  reader: Reader,
  { with_backups }: Record<string, unknown>,
  instance: InstanceRecord,
  beside: { server: ServerRecord | undefined; policy: PolicyRecord | undefined },
): Promise<Outcome> {
  const effects = await effectsOfDeletion(reader, instance, beside);
  if (with_backups !== true) return only(...effects);
  if (!mayRead(reader, BACKUP)) return only(...effects, effect("delete", { type: BACKUP, id: null }, "its_backups_deleted"));
  const { account_id: accountId, id: parentId } = instance;
  const list = { kind: "backup", accountId, parentId, schema: BackupRecord } as const;
  const { items } = await listOfParent(list, { per_page: LISTED_MAX });
  // The one that waits goes with the instance.
  const others = items.filter(({ id }) => !effects.some(({ resource }) => resource.id === id));
  const outcomes = await outcomesOfEach(others, (backup) =>
    outcomeOfBackup(reader, { action: "delete", parameters: {} }, backup),
  );
  return {
    effects: [...effects, ...outcomes.flatMap((each) => each.effects)],
    warnings: outcomes.flatMap(({ warnings }) => warnings),
  };
}

function effectsOfDeploy(reader: Caller, parameters: Record<string, unknown>, instance: InstanceRecord, items: Items): Effect[] {
  const code = items.get(keyString(codeRef(instance.account_id, instance.id).key));
  return listEffects(
    reader,
    instance,
    code === undefined ? emptyCode(instance) : CodeRecord.parse(code),
    deployChoices().parse(parameters),
  );
}

async function outcomeOfBackup(reader: Reader, { action, parameters }: Doing, backup: BackupRecord): Promise<Outcome> {
  const resource = { type: BACKUP, id: backup.id };
  const named = { type: BACKUP, name: `${nameOfBackup(backup)}, ${backup.completed_at ?? backup.created_at}` };
  switch (action) {
    case "lock":
      return only(effect("update", resource, backup.locked ? "nothing_changed" : "backup_locked"));
    case "unlock":
      return only(effect("update", resource, backup.locked ? "backup_unlocked" : "nothing_changed"));
    case "delete":
      return unlessRefused(
        reader,
        named,
        () => requireDeletable(backup),
        () => only(effect("delete", resource, "backup_deleted")),
      );
    case "drill":
      return unlessRefused(
        reader,
        named,
        () => requireDrillable(backup),
        () => only(effect("update", resource, "backup_drilled")),
      );
    case "set_labels":
      return only(relabeling(resource, backup.labels, parameters));
    default:
      throw new Error(`No such action: ${action}`);
  }
}
