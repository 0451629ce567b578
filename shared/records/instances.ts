// Instances in the table.
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import {
  actionNotAllowed,
  instanceBeingDeleted,
  internalDomain,
  invalidState,
  notFound,
  operationInProgress,
} from "../api/errors.ts";
import type { Labels } from "../api/fields.ts";
import { Instance, INSTANCE_UNVERSIONED } from "../api/instances.ts";
import { idOfBytes, newId } from "../domain/ids.ts";
import { isInternalName } from "../domain/internal-names.ts";
import {
  HEALTH_OF_ERP,
  INSTANCE_RENAMABLE,
  type InstanceAction,
  type InstanceStatus as Status,
  LIFECYCLE,
  type OperationType,
  statesFor,
  type Transition,
  WITHOUT_ERP,
  WRITABLE,
} from "../domain/lifecycle.ts";
import { chooseByEnvironment } from "../platform/env.ts";
import { createGetter, listByIds, createRequirement, createRef } from "../data/by-id.ts";
import { type Change, heldError, labelChange, now, Overtaken, labelConflict, startChange, withLabels } from "../data/change.ts";
import { type Ending, Held } from "./ending.ts";
import type { LabelChange } from "../data/entries.ts";
import { keys, type Item } from "../data/keys.ts";
import { listPage } from "../data/lists.ts";
import type { ByIds, Listed, PageQuery } from "../data/pages.ts";
import { requireRunning } from "./operations.ts";
import { removeRedirects, recordRedirect, scheduleSettingsUpdate, previousDomainsAfter } from "./redirects.ts";
import { parseEach } from "../data/parse-each.ts";
import { NO_REASON } from "./reasons.ts";
import { InstanceRecord, type InstanceEdit } from "./schemas/instance.ts";
import type { OperationCore, OperationRecord } from "./schemas/operation.ts";
import type { ServerRecord } from "./schemas/server.ts";
import { sentFields } from "./sent-fields.ts";
import { type Entry, type Finding, findChildren, findPage, needsEntries } from "../data/search.ts";
import { occupyServer, requireServerReady, serverRef } from "./servers.ts";
import { find, updateOne } from "../data/table.ts";
import { addTags } from "../data/tags.ts";
import { type Version, computeVersion } from "../data/versions.ts";
import { check, type Write } from "../data/writes.ts";

const InstanceState = InstanceRecord.shape.state;

export const instanceRef = createRef("instance", InstanceRecord);
export const requireInstance = createRequirement<InstanceRecord>("instance");
export const getInstance = createGetter("instance", instanceRef, requireInstance);

type InstanceQuery = PageQuery &
  Finding &
  ByIds & {
    status?: string | undefined;
    server_id?: string | undefined;
    protection?: string | undefined;
    erp_version?: string | undefined;
    edition?: string | undefined;
    drill?: string | undefined;
    last_backup_before?: string | undefined;
    health?: string | undefined;
    update_available?: string | undefined;
  };

/** A page of instances; `read` has their servers, if they were read with them. */
export async function listInstances(
  accountId: string,
  {
    ids,
    status,
    server_id,
    protection,
    last_backup_before,
    health,
    erp_version,
    edition,
    drill,
    update_available,
    label,
    search,
    sort,
    ...page
  }: InstanceQuery,
): Promise<Listed<InstanceRecord> & { read?: Map<string, Item> }> {
  const list = { kind: "instance", accountId, schema: InstanceRecord } as const;
  if (ids !== undefined) return listByIds(list, ids);
  const [finding, filters] = [
    { label: addTags(label, { erp_version, edition, drill, update_available }), search, sort },
    { status, protection, last_backup_before, health },
  ];
  if (server_id !== undefined) return findChildren(list, server_id, { finding, filters, page });
  if (!needsEntries(finding, filters, page)) return listPage({ ...list, status, protection }, page);
  const server = (entry: Entry) =>
    entry.server === undefined ? [] : [serverRef(accountId, idOfBytes("server", entry.server)).key];
  const { records, read, meta } = await findPage(list, { finding, filters, page }, server);
  return { items: parseEach(InstanceRecord, records), meta, read };
}

export const instanceVersion = (instance: InstanceRecord): Version =>
  computeVersion(instanceRef(instance.account_id, instance.id), instance, {
    publicSchema: Instance,
    unversioned: INSTANCE_UNVERSIONED,
    status: ({ state }) => state,
  });

type NewInstance = Pick<InstanceRecord, "name" | "erp_version" | "edition" | "database_name" | "admin_email" | "domain"> &
  Partial<Pick<InstanceRecord, "id" | "next_backup_at" | "cloned_from_backup_id" | "neutralized">> & {
    labels?: Labels | undefined;
  };

/** Counts an instance on its server, and reserves its domain and its database's name, before anything is installed. */
export function reserveInstance(
  change: Change,
  server: Pick<ServerRecord, "id" | "ip_address">,
  { id = newId("instance"), labels = {}, ...draft }: NewInstance,
  operationId: string,
): InstanceRecord {
  const instance: InstanceRecord = {
    cloned_from_backup_id: null,
    neutralized: false,
    next_backup_at: null,
    ...draft,
    labels,
    disk_quota_bytes: null,
    id,
    account_id: change.accountId,
    number: change.number("instance", id),
    server_id: server.id,
    server_ip: server.ip_address,
    installed: false,
    state: LIFECYCLE["instance.create"].through,
    ...NO_REASON,
    operation_id: operationId,
    protection_status: "unprotected",
    last_backup_id: null,
    last_backup_at: null,
    last_backup_begun_at: null,
    last_drill: null,
    health_status: HEALTH_OF_ERP.unknown,
    health_since: null,
    health_fault: null,
    unfinished_modules: [],
    missing_modules: null,
    previous_domains: [],
    image_id: null,
    image_created_at: null,
    update_available: null,
    auto_restarts: [],
    created_at: change.at,
    updated_at: change.at,
  };
  change.use("instance", 1);
  claimDomain(change, instance, instance.domain);
  change.claim(keys.databaseName(change.accountId, server.id, instance.database_name), "database_name", id);
  occupyServer(change, server.id);
  change.add("instance", instance, { status: instance.state, parentId: server.id, protection: instance.protection_status });
  return instance;
}

export function requireRenamable({ state }: InstanceRecord): void {
  if (!INSTANCE_RENAMABLE.includes(state)) throw instanceBeingDeleted(state);
}

/** Makes sure that an action is possible now, so that the client gets the reason before anything is written. */
export function requireAllowed(instance: InstanceRecord, action: InstanceAction): void {
  if (instance.operation_id !== null) throw operationInProgress(instance.operation_id);
  if (!instance.installed && !WITHOUT_ERP.includes(action)) throw neverInstalled(instance.state);
  if (!statesFor(action).includes(instance.state)) throw actionNotAllowed(action, instance.state);
}

/** Begins work on an instance: locks it and moves it to the transient state, from the states that the lifecycle allows. */
export function moveInstance(
  change: Change,
  instance: InstanceRecord,
  { type, operationId }: { type: OperationType; operationId: string },
  fields: InstanceEdit & Partial<Pick<InstanceRecord, "auto_restarts">> = {},
): InstanceRecord {
  const { through }: Transition = LIFECYCLE[type];
  const state = through === "unchanged" ? instance.state : InstanceState.parse(through);
  const moved = { ...instance, ...sentFields(fields), state, operation_id: operationId, updated_at: now() };
  const relabeled = labelChange(instance.labels, fields.labels);
  change.move(
    { kind: "instance", record: instance },
    { from: instance.state, to: state, set: { ...fields, state, operation_id: operationId, updated_at: moved.updated_at } },
    {
      equals: { operation_id: null, state: instance.state },
      unchanged: { ...readLabels(relabeled), ...readEmail(instance, fields) },
    },
    (current) => changedMeanwhile(current, instance, fields, relabeled) ?? instanceError(current),
  );
  refind(change, instance, fields, relabeled);
  return moved;
}

/**
 * Work whose success means that the ERP responded at its end. What was down before comes back with the next look, and its event.
 */
const STARTING: readonly OperationType[] = ["instance.create", "instance.clone", "instance.start", "instance.restart"];

/** Work after whose success there is an ERP where there was none. */
const INSTALLING: readonly OperationType[] = ["instance.create", "instance.clone"];

/** What an update changes immediately, which its end takes back if it failed. */
const Edited = InstanceRecord.pick({
  name: true,
  admin_email: true,
  labels: true,
  disk_quota_bytes: true,
} satisfies Record<keyof InstanceEdit, true>);

/**
 * What the end of an operation takes of its instance: the whole record's schema would slow every cold start of a function that
 * begins one.
 */
const Ended = Held.extend({
  domain: z.string(),
  database_name: z.string(),
  server_id: z.string(),
  protection_status: z.string().default("unprotected"),
  ...Edited.shape,
  health_status: z.string().default(HEALTH_OF_ERP.unknown),
  // Its tags, to take them away with it.
  erp_version: z.string(),
  edition: z.string(),
  server_ip: z.string().nullable(),
  last_drill: z.string().nullable().default(null),
  update_available: z.boolean().nullable().default(null),
  previous_domains: z.array(z.object({ domain: z.string() })).default([]),
});

/**
 * Ends the work on an instance: it is gone, with its domain and its database's name, and counts no longer on its server and in
 * the quota; or it is free again in another state.
 */
export async function endInstance(change: Change, { operation, to, withdrawn, reasonAfter }: Ending): Promise<void> {
  const { accountId } = change;
  const instance = await find({ key: keys.record("instance", accountId, operation.resource.id), schema: Ended });
  if (withdrawn && operation.type === "instance.update")
    change.remove(keys.domain(accountId, String(operation.input["new_domain"])));
  if (instance?.operation_id !== operation.id) return;
  const whileHeld = { equals: { operation_id: operation.id } };
  if (to === "gone") {
    const { update_available } = instance;
    change.removeListed(
      { kind: "instance", record: instance, status: instance.state },
      { ...whileHeld, unchanged: { update_available } },
      // A report may change it at the same time.
      (current) =>
        current?.["operation_id"] === operation.id
          ? new Overtaken("The instance changed at the same time", instance.id)
          : undefined,
    );
    if (update_available === true) change.countShown("update_available", -1);
    change.remove(keys.domain(accountId, instance.domain));
    removeRedirects(change, instance.previous_domains);
    change.remove(keys.databaseName(accountId, instance.server_id, instance.database_name));
    change.update(keys.record("server", accountId, instance.server_id), { add: { instances: -1 } });
    change.use("instance", -1);
    return;
  }
  const state = InstanceState.parse(to);
  const { before, after } = withdrawn ? unchangedReplacement(instance, operation) : NOTHING_REPLACED;
  const installed = INSTALLING.includes(operation.type) && state === LIFECYCLE[operation.type].to;
  const responds = !withdrawn && STARTING.includes(operation.type) && state === LIFECYCLE["instance.start"].to;
  const set = {
    ...(installed && { installed }),
    ...(responds && instance.health_status !== HEALTH_OF_ERP.failing && { health_status: HEALTH_OF_ERP.ok, health_since: now() }),
    ...before,
    state,
    ...reasonAfter(state, instance),
    operation_id: null,
    updated_at: now(),
  };
  change.move(
    { kind: "instance", record: instance },
    { from: instance.state, to: state, set },
    // A step that shows another state may do so at the same time.
    { equals: { ...whileHeld.equals, state: instance.state }, unchanged: { ...after } },
    (current) =>
      current?.["state"] === instance.state
        ? undefined
        : new Overtaken("The state of the instance changed at the same time", instance.id),
  );
  change.setSearchFields(
    "instance",
    instance.id,
    { name: before.name, health: set.health_status },
    labelChange(instance.labels, before.labels),
  );
  if (before.admin_email !== undefined) change.setFilterFields("instance", instance.id, instance, { ...instance, ...before });
}

/** What the request changed at once, without the fields that another request has changed since: that one was told its success. */
function unchangedReplacement(
  instance: z.infer<typeof Ended>,
  { replaced = NOTHING_REPLACED }: OperationCore,
): NonNullable<OperationCore["replaced"]> {
  const isUnchanged = (field: keyof InstanceEdit): boolean => isDeepStrictEqual(replaced.after[field], instance[field]);
  return { before: sentFields(replaced.before, isUnchanged), after: sentFields(replaced.after, isUnchanged) };
}

const NOTHING_REPLACED: NonNullable<OperationCore["replaced"]> = { before: {}, after: {} };

/**
 * Holds an instance for a backup, which changes nothing of it, not even `updated_at`: whoever read it before can still change it.
 */
export function holdInstance(change: Change, instance: InstanceRecord, operationId: string, also: Item = {}): void {
  change.update(
    keys.record("instance", change.accountId, instance.id),
    { set: { ...also, operation_id: operationId } },
    { equals: { operation_id: null }, oneOf: { state: statesFor("backup") } },
    instanceError,
  );
}

/** Work on an instance needs an active server; otherwise the error names the server. */
export const requireServerUsable = (change: Change, instance: InstanceRecord): void =>
  requireServerReady(change, instance.server_id);

/** Changes what needs no work on the server. With `keepDomain`, no work may begin meanwhile that would change the domain. */
export function editInstance(change: Change, instance: InstanceRecord, fields: InstanceEdit, keepDomain = false): InstanceRecord {
  requireRenamable(instance);
  const set = { ...sentFields(fields), updated_at: now() };
  const relabeled = labelChange(instance.labels, fields.labels);
  change.update(
    keys.record("instance", change.accountId, instance.id),
    { set },
    // The state that was read is no condition: work that ends in the meantime does not matter.
    {
      oneOf: { state: INSTANCE_RENAMABLE, ...(keepDomain && { operation_id: [null, instance.operation_id] }) },
      unchanged: { ...readLabels(relabeled), ...readEmail(instance, fields) },
    },
    (current) => changedMeanwhile(current, instance, fields, relabeled) ?? instanceError(current),
  );
  refind(change, instance, fields, relabeled);
  return { ...instance, ...set };
}

/** What a change of labels or of the email, by which the instance is found, was decided by. */
const readLabels = (relabeled: LabelChange | undefined): Item => withLabels(relabeled).unchanged ?? {};
const readEmail = ({ admin_email }: InstanceRecord, fields: InstanceEdit): Item =>
  fields.admin_email === undefined ? {} : { admin_email };

const changedMeanwhile = (
  current: Item | undefined,
  { id, admin_email }: InstanceRecord,
  fields: InstanceEdit,
  relabeled: LabelChange | undefined,
): Error | undefined =>
  fields.admin_email !== undefined && current !== undefined && current["admin_email"] !== admin_email
    ? new Overtaken("Another request changed the email at the same time; check it and try again if you need to", id)
    : labelConflict(current, id, relabeled);

function refind(change: Change, instance: InstanceRecord, fields: InstanceEdit, relabeled: LabelChange | undefined): void {
  change.setSearchFields("instance", instance.id, { name: fields.name }, relabeled);
  change.setFilterFields("instance", instance.id, instance, { ...instance, ...sentFields(fields) });
}

/** Has the machine learn of another disk quota with the next health check. */
export function scheduleQuotaUpdate(change: Change, { server_id, disk_quota_bytes }: InstanceRecord, fields: InstanceEdit): void {
  if (fields.disk_quota_bytes !== undefined && fields.disk_quota_bytes !== disk_quota_bytes)
    scheduleSettingsUpdate(change, server_id);
}

/** Reserves a domain for the instance, which may already have another one. In the sandbox nothing serves it, so any will do. */
export function claimDomain(change: Change, instance: InstanceRecord, domain: string): void {
  if (isInternalName(domain) && chooseByEnvironment({ test: () => false, live: () => true })) throw internalDomain();
  change.claim(keys.domain(change.accountId, domain), "domain", instance.id);
}

/**
 * Makes the new domain the instance's own and frees the old one, which redirects from now on, while the operation that moves it
 * runs.
 */
export function adoptDomain(change: Change, operation: OperationRecord, instance: InstanceRecord, domain: string): void {
  requireRunning(change, operation);
  change.update(
    keys.record("instance", change.accountId, instance.id),
    { set: { domain, previous_domains: previousDomainsAfter(instance, domain, operation.created_at), updated_at: now() } },
    { equals: { domain: instance.domain } },
  );
  recordRedirect(change, instance, domain, operation.created_at);
  change.setSearchFields("instance", instance.id, { domain });
  change.remove(keys.domain(change.accountId, instance.domain));
}

/** Shows the state that a step of the work moves the instance to, while the operation runs. */
export async function showTransientState(operation: OperationRecord, instance: InstanceRecord): Promise<void> {
  const { during }: Transition = LIFECYCLE[operation.type];
  const state = InstanceState.parse(during);
  if (instance.state === state) return; // a second run
  const change = startChange({ id: instance.account_id });
  requireRunning(change, operation);
  change.move(
    { kind: "instance", record: instance },
    { from: instance.state, to: state, set: { state, updated_at: now() } },
    { equals: { operation_id: operation.id, state: instance.state } },
  );
  await change.commit();
}

const neverInstalled = (state: string): Error =>
  invalidState("The ERP was never installed on this instance; delete it and create another", state, {}, { kind: "instance" });

const unchangeable = (state: string): Error =>
  invalidState(`The instance is ${state}, so it cannot be changed`, state, {}, { kind: "instance" });

const instanceError = (current: Item | undefined): Error =>
  current === undefined ? notFound("instance") : (heldError(current) ?? unchangeable(String(current["state"])));

/**
 * Whether what the instance now holds is neutralized, as its host found it for the operation that locks it. A later task of an
 * ended one changes nothing.
 */
export async function recordNeutralized(
  { account_id, id }: InstanceRecord,
  operation: OperationRecord,
  neutralized: boolean,
): Promise<void> {
  await updateOne(keys.record("instance", account_id, id), { set: { neutralized } }, { equals: { operation_id: operation.id } });
}

/** A condition of what people write in its ERP, at the moment of the write. */
export const requireWritable = ({ account_id, id }: InstanceRecord, error: (state: Status) => Error): Write =>
  check(keys.record("instance", account_id, id), { oneOf: { state: WRITABLE } }, (current) =>
    current === undefined ? notFound("instance") : error(InstanceState.parse(current["state"])),
  );
