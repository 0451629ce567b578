// What a deploy would do, for its dry run: the commits as they were last checked, and how long the last deploys took.
import type { Effect, Forecast } from "../api/dry-run.ts";

import { readAll } from "../data/table.ts";
import { keys } from "../data/keys.ts";
import { parseEach } from "../data/parse-each.ts";
import { DEPLOY_STATUS, SERVING } from "../domain/lifecycle.ts";
import type { Selection } from "../domain/module-plan.ts";
import type { Sentence } from "../domain/sentences.ts";
import { isOf } from "../records/code.ts";
import type { BackupRecord } from "../records/schemas/backup.ts";
import type { Caller } from "../records/schemas/caller.ts";
import type { CodeRecord, RepositoryRecord } from "../records/schemas/code.ts";
import { DeployRecord } from "../records/schemas/deploy.ts";
import type { InstanceRecord } from "../records/schemas/instance.ts";
import { chooseImage, type Rollback } from "./rollbacks.ts";
import { diskWarnings, effect, forecast, INSTANCE, mayRead, NEW_BACKUP, sentence } from "./forecasts.ts";

interface Wanted {
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
  wanted: Wanted,
): Promise<Forecast> {
  const { rehearse, backup_first, backup } = wanted;
  const visible = mayRead(reader, "instance");
  const effects = listEffects(reader, instance, code, wanted);
  const warnings: Sentence[] = [
    ...(backup === undefined ? [] : [sentence("deploy_data_lost", lostSince(backup.created_at))]),
    ...warnOfChoices({ rehearse: rehearse || backup !== undefined, backup_first }),
    ...(visible && code.repositories.length === 0 ? [sentence("deploy_no_code")] : []),
    ...(await diskWarnings(reader, instance.account_id, instance.server_id, 0)),
  ];
  const downtime_seconds = SERVING.includes(instance.state) ? (visible ? await lastDowntime(code) : null) : 0;
  return forecast(effects, { downtime_seconds, disk_bytes: null, warnings });
}

/** What is risky about how a deploy is made. */
export const warnOfChoices = ({ rehearse, backup_first }: Pick<Wanted, "rehearse" | "backup_first">): Sentence[] => [
  ...(rehearse ? [] : [sentence("deploy_not_rehearsed")]),
  ...(backup_first ? [] : [sentence("deploy_without_backup")]),
];

/** What a deploy changes and takes. */
export function listEffects(
  reader: Pick<Caller, "permissions">,
  instance: Pick<InstanceRecord, "id" | "image_id">,
  code: CodeRecord,
  { modules, rehearse, backup_first, update_image, rollback, backup }: Wanted,
): Effect[] {
  const visible = mayRead(reader, "instance");
  const resource = { type: INSTANCE, id: instance.id } as const;
  const image = chooseImage(instance, code, { update_image, rollback });
  const listed = (names: readonly string[]) => ({ modules: names.join(", ") });
  return [
    ...(rollback !== undefined
      ? [effect("update", resource, "deploy_rolled_back", { deploy: rollback.deploy.id })]
      : visible
        ? code.repositories.map((repository) => describe(resource, code, repository))
        : []),
    ...(backup !== undefined && mayRead(reader, "backup")
      ? [effect("restore", resource, "deploy_data_restored", { since: backup.created_at, backup: backup.id })]
      : []),
    typeof modules === "string"
      ? effect("update", resource, modules === "all" ? "deploy_modules_all" : "deploy_modules_changed")
      : effect("update", resource, "deploy_modules_named", listed(modules)),
    ...(visible && code.install_modules.length > 0
      ? [effect("update", resource, "deploy_modules_installed", listed(code.install_modules))]
      : []),
    ...(visible && code.python_packages.length > 0
      ? [effect("update", resource, "deploy_packages", { packages: code.python_packages.join(", ") })]
      : []),
    ...(image === undefined ? [] : [effect("update", resource, image === "newest" ? "deploy_image" : "deploy_image_back")]),
    ...(rehearse && backup === undefined ? [effect("read", resource, "deploy_rehearsed")] : []),
    ...(backup_first ? [effect("create", NEW_BACKUP, "deploy_backup")] : []),
  ];
}

function describe(resource: Effect["resource"], { checked }: CodeRecord, repository: RepositoryRecord): Effect {
  const { url, ref } = repository;
  const commit = checked.find(isOf(repository))?.commit;
  return commit === undefined
    ? effect("update", resource, "deploy_ref", { url, ref })
    : effect("update", resource, "deploy_commit", { url, ref, commit });
}

/** How long ago that was, in words that every language has. */
function lostSince(since: string): { duration: string; since: string } {
  const minutes = Math.max(0, Math.floor((Date.now() - Date.parse(since)) / 60_000));
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60)];
  const parts = [...(days > 0 ? [`${days} d`] : []), ...(hours > 0 ? [`${hours} h`] : []), `${minutes % 60} min`];
  return { duration: parts.join(" "), since };
}

/** Of the newest deploy that changed the ERP, or at least rehearsed that: one that was put back took longer. */
async function lastDowntime({ account_id, deploy_ids }: CodeRecord): Promise<number | null> {
  const items = await readAll(
    deploy_ids.map((id) => keys.deploy(account_id, id)),
    { consistent: false },
  );
  const deploys = parseEach(DeployRecord, [...items.values()]).toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const known = deploys.map(
    ({ status, downtime_seconds, rehearsal }) =>
      (status === DEPLOY_STATUS.completed ? downtime_seconds : null) ?? rehearsal?.duration_seconds ?? null,
  );
  return known.find((seconds) => seconds !== null) ?? null;
}
