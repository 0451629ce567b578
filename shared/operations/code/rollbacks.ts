// Going back to an earlier deploy: its commits again, and on request the data of its last moment.
import { deployNotCompleted, modulesNewer, noBackupToRollBack, noneInAccount } from "../../api/errors.ts";
import { keys } from "../../data/keys.ts";
import { parseEach } from "../../data/parse-each.ts";
import { readAll } from "../../data/table.ts";
import { DEPLOY_STATUS } from "../../domain/lifecycle.ts";
import { isNewer } from "../../domain/missing-modules.ts";
import { followsNewest, withCurrentCredentials } from "../../records/code.ts";
import { databaseVersions, getPlan } from "../../records/deploys.ts";
import type { CodeRecord } from "../../records/schemas/code.ts";
import { DeployRecord, type Image } from "../../records/schemas/deploy.ts";
import type { InstanceRecord } from "../../records/schemas/instance.ts";

export interface Rollback {
  deploy: DeployRecord;
  code: CodeRecord;
  commits: string[];
  /** The packages as they were resolved then; none if that is not known any more. */
  packages: string[];
  /** Modules that were installed since, and which that code may lack: it is known only which of its modules were installed. */
  unknownModules: string[];
  /** What the ERP had with that code; null if that is not known any more. */
  image: Image | null;
  /** The backup that the data comes back from. */
  backupId: string | undefined;
}

/** Throws if the instance cannot go back to that deploy. */
export async function planRollback(
  instance: InstanceRecord,
  code: CodeRecord,
  { rollback_to, restore_database }: { rollback_to: string; restore_database: boolean },
): Promise<Rollback> {
  const { account_id, deploy_ids, deployed, restored_after } = code;
  const items = await readAll(deploy_ids.map((id) => keys.deploy(account_id, id)));
  const newestFirst = parseEach(DeployRecord, [...items.values()]).toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const deploy = newestFirst.find(({ id }) => id === rollback_to);
  if (deploy === undefined) throw noneInAccount("rollback_to", "deploy of this instance");
  if (deploy.status !== DEPLOY_STATUS.completed) throw deployNotCompleted(deploy.status);
  const target = await getPlan(account_id, deploy.id);
  // The first one after it that has changed anything: what it backed up is the last moment of that code.
  const next = newestFirst.findLast(({ id, status }) => id > deploy.id && status === DEPLOY_STATUS.completed);
  const backupId = restore_database ? (next?.backup_id ?? undefined) : undefined;
  if (restore_database && backupId === undefined) throw noBackupToRollBack(instance.state);
  const deployedVersions =
    restore_database || deployed === null ? {} : databaseVersions(await getPlan(account_id, deployed.deploy_id));
  const targetVersions = new Map(Object.entries(target.versions));
  const newer = Object.entries(deployedVersions).filter(([name, version]) =>
    isNewer(version, targetVersions.get(name) ?? version),
  );
  // What a restore has brought since only the machine knows, which compares before the ERP stops.
  const isKnown = deployed?.deploy_id !== restored_after;
  if (isKnown && newer.length > 0) throw modulesNewer(instance.state, newer.map(([name]) => name).toSorted());
  return {
    deploy,
    code: withCurrentCredentials(code, target.code),
    commits: deploy.commits.map(({ commit }) => commit),
    packages: target.packages ?? [],
    unknownModules: Object.keys(deployedVersions)
      .filter((name) => !targetVersions.has(name))
      .toSorted(),
    image: target.started_with,
    backupId,
  };
}

/** The image that a deploy brings: the newest one, that of an earlier deploy if the ERP has another one now, or none. */
export function chooseImage(
  { image_id }: Pick<InstanceRecord, "image_id">,
  code: CodeRecord,
  { update_image, rollback }: { update_image: boolean; rollback?: Rollback | undefined },
): "newest" | Image | undefined {
  if (update_image) return "newest";
  if (rollback === undefined) return followsNewest(code) ? "newest" : undefined;
  return rollback.image === null || rollback.image.id === image_id ? undefined : rollback.image;
}
