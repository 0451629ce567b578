// What a deploy would do, for its dry run: the commits as they were last checked, and how long the last deploys took.
import { isDeepStrictEqual } from "node:util";
import type { Effect, Forecast } from "../../api/dry-run.ts";

import { find, readAll } from "../../data/table.ts";
import { keys } from "../../data/keys.ts";
import { parseEach } from "../../data/parse-each.ts";
import { DEPLOY_STATUS, SERVING } from "../../domain/lifecycle.ts";
import { nameWithSources, type Selection } from "../../domain/module-plan.ts";
import type { Sentence } from "../../domain/sentences.ts";
import { isCommitOf } from "../../records/code.ts";
import type { BackupRecord } from "../../records/schemas/backup.ts";
import type { Caller } from "../../records/schemas/caller.ts";
import type { CodeRecord, CommitRecord, RepositoryRecord } from "../../records/schemas/code.ts";
import { DeployRecord } from "../../records/schemas/deploy.ts";
import type { InstanceRecord } from "../../records/schemas/instance.ts";
import { hostReportRef } from "../../records/host-reports.ts";
import { chooseImage, type Rollback } from "../code/rollbacks.ts";
import { effect, forecast, INSTANCE, mayRead, NEW_BACKUP, sentence } from "./forecast.ts";
import { diskWarnings } from "./room-forecast.ts";
import { MINUTE_MS } from "../../domain/durations.ts";

interface DeployRequest {
  modules: Selection;
  rehearse: boolean;
  backup_first: boolean;
  update_image: boolean;
  rollback?: Rollback | undefined;
  /** What the data comes back from. */
  backup?: BackupRecord | undefined;
}

export async function forecastDeploy(
  reader: Pick<Caller, "permissions">,
  instance: InstanceRecord,
  code: CodeRecord,
  request: DeployRequest,
): Promise<Forecast> {
  const { rehearse, backup_first, rollback, backup } = request;
  const { repositories } = rollback?.code ?? code;
  const { unknownModules = [] } = rollback ?? {};
  const visible = mayRead(reader, "instance");
  const effects = listEffects(reader, instance, code, request);
  const disk_bytes = visible ? await estimateRoom(instance, request) : null;
  const warnings: Sentence[] = [
    ...(backup === undefined ? [] : [warnOfLoss(reader, backup)]),
    ...(visible && unknownModules.length > 0
      ? [sentence("deploy_modules_may_be_missing", { modules: nameWithSources(unknownModules, {}) })]
      : []),
    ...warnOfChoices({ rehearse: rehearse || backup !== undefined, backup_first }),
    ...(visible && repositories.length === 0 ? [sentence("deploy_no_code")] : []),
    ...(visible && instance.edition === "enterprise" && chooseImage(instance, code, request) !== undefined
      ? [sentence("deploy_enterprise_stays")]
      : []),
    ...(await diskWarnings(reader, instance.account_id, instance.server_id, disk_bytes ?? 0)),
  ];
  const downtime_seconds = SERVING.includes(instance.state) ? (visible ? await lastDowntime(code) : null) : 0;
  return forecast(effects, { downtime_seconds, disk_bytes, warnings });
}

/**
 * Estimates the room for the copy of the database that is kept, or for the rehearsal's and its dump before that. The files are
 * linked, but nobody knows what they are of the disk that the instance uses, so that this is rather too much. Returns null if
 * that was not reported.
 */
export async function estimateRoom(
  { account_id, server_id, id }: InstanceRecord,
  { rehearse, backup }: Pick<DeployRequest, "rehearse" | "backup">,
): Promise<number | null> {
  const used = (await find(hostReportRef(account_id, server_id)))?.uses[id]?.used_bytes ?? null;
  return used === null ? null : used * (rehearse && backup === undefined ? 2 : 1) + (backup?.size_bytes ?? 0);
}

/** What is risky about how a deploy is made. */
export const warnOfChoices = ({ rehearse, backup_first }: Pick<DeployRequest, "rehearse" | "backup_first">): Sentence[] => [
  ...(rehearse ? [] : [sentence("deploy_not_rehearsed")]),
  ...(backup_first ? [] : [sentence("deploy_without_backup")]),
];

/** What a deploy changes and takes. */
export function listEffects(
  reader: Pick<Caller, "permissions">,
  instance: Pick<InstanceRecord, "id" | "image_id">,
  code: CodeRecord,
  { modules, rehearse, backup_first, update_image, rollback, backup }: DeployRequest,
): Effect[] {
  const visible = mayRead(reader, "instance");
  const { repositories, install_modules, python_packages } = rollback?.code ?? code;
  const resource = { type: INSTANCE, id: instance.id } as const;
  const image = chooseImage(instance, code, { update_image, rollback });
  const isKnown = visible && rollback === undefined && image === undefined; // with another image, all are updated
  return [
    ...(rollback === undefined ? [] : [effect("update", resource, "deploy_rolled_back", { deploy: rollback.deploy.id })]),
    ...(visible
      ? repositories.map((repository, index) =>
          describe(resource, repository, rollback?.commits[index] ?? checked(code, repository)),
        )
      : []),
    ...(backup !== undefined && mayRead(reader, "backup")
      ? [effect("restore", resource, "deploy_data_restored", { since: backup.created_at, backup: backup.id })]
      : []),
    // Data that comes back was last updated with that code.
    ...(backup === undefined ? [describeUpdate(resource, modules, isKnown ? changedSince(code) : undefined)] : []),
    ...(visible && backup === undefined && install_modules.length > 0
      ? [effect("update", resource, "deploy_modules_installed", listed(install_modules))]
      : []),
    ...(visible && python_packages.length > 0
      ? [effect("update", resource, "deploy_packages", { packages: python_packages.join(", ") })]
      : []),
    ...(image === undefined ? [] : [effect("update", resource, image === "newest" ? "deploy_image" : "deploy_image_back")]),
    ...(rehearse && backup === undefined ? [effect("read", resource, "deploy_rehearsed")] : []),
    ...(backup_first ? [effect("create", NEW_BACKUP, "deploy_backup")] : []),
  ];
}

const listed = (names: readonly string[]) => ({ modules: names.join(", ") });

function describeUpdate(resource: Effect["resource"], modules: Selection, changed: readonly string[] | undefined): Effect {
  if (typeof modules !== "string") return effect("update", resource, "deploy_modules_named", listed(modules));
  if (modules === "all") return effect("update", resource, "deploy_modules_all");
  if (changed === undefined) return effect("update", resource, "deploy_modules_changed");
  return changed.length === 0
    ? effect("update", resource, "deploy_modules_unchanged")
    : effect("update", resource, "deploy_modules_found", listed(changed));
}

/**
 * The modules whose files differ from the deployed ones, at the commits as they were last checked. Undefined if nobody has
 * compared just these.
 */
function changedSince({ repositories, checked: commits, deployed, changed }: CodeRecord): readonly string[] | undefined {
  const newest = repositories.map((repository) => commits.find(isCommitOf(repository)));
  const knownCommits = newest.flatMap((each) => (each === undefined ? [] : [each]));
  if (knownCommits.length < repositories.length || (deployed !== null && deployed.whole !== true)) return undefined;
  const toSource = ({ url, path, commit }: CommitRecord) => ({ url, path, commit });
  if (isDeepStrictEqual(knownCommits.map(toSource), deployed?.commits.map(toSource))) return [];
  const isCompared =
    changed?.compared_with === (deployed === null ? "" : deployed.code_id) &&
    isDeepStrictEqual(
      knownCommits.map(({ commit }) => commit),
      changed?.commits,
    );
  return isCompared ? changed?.modules : undefined;
}

/** What the ref was when it was last looked up. */
const checked = ({ checked: commits }: CodeRecord, repository: RepositoryRecord): string | undefined =>
  commits.find(isCommitOf(repository))?.commit;

function describe(resource: Effect["resource"], { url, ref }: RepositoryRecord, commit: string | undefined): Effect {
  return commit === undefined
    ? effect("update", resource, "deploy_ref", { url, ref })
    : effect("update", resource, "deploy_commit", { url, ref, commit });
}

/** Tells when the backup was taken only to those who may read it. */
const warnOfLoss = (reader: Pick<Caller, "permissions">, { created_at }: BackupRecord): Sentence =>
  mayRead(reader, "backup") ? sentence("deploy_data_lost", lostSince(created_at)) : sentence("deploy_data_lost_since_backup");

/** How long ago that was, in words that every language has. */
function lostSince(since: string): { duration: string; since: string } {
  const minutes = Math.max(0, Math.floor((Date.now() - Date.parse(since)) / MINUTE_MS));
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60)];
  const parts = [...(days > 0 ? [`${days} d`] : []), ...(hours > 0 ? [`${hours} h`] : []), `${minutes % 60} min`];
  return { duration: parts.join(" "), since };
}

/**
 * Returns the downtime by the newest rehearsal of an update, or else by the newest deploy of one; what was undone took longer.
 */
async function lastDowntime({ account_id, deploy_ids }: CodeRecord): Promise<number | null> {
  const items = await readAll(
    deploy_ids.map((id) => keys.deploy(account_id, id)),
    { consistent: false },
  );
  const updates = parseEach(DeployRecord, [...items.values()])
    .filter(({ modules }) => modules !== null && modules.updated.length + modules.installed.length > 0)
    .toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const rehearsed = updates.map(({ rehearsal }) => rehearsal?.duration_seconds ?? null);
  const stopped = updates.map(({ status, downtime_seconds }) => (status === DEPLOY_STATUS.completed ? downtime_seconds : null));
  return [...rehearsed, ...stopped].find((seconds) => seconds !== null) ?? null;
}
