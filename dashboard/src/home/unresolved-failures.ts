// The failures that nothing has mended: no later success, and no deletion of what they were on.
import type { Operation } from "../../../shared/api/operations.ts";
import type { OperationType } from "../../../shared/domain/lifecycle.ts";

const BACKUP: OperationType = "backup.create";

/** Returns when the operation ended. */
export const endedAt = ({ finished_at, created_at }: Operation): string => finished_at ?? created_at;

export const isBackup = ({ type }: Pick<Operation, "type">): boolean => type === BACKUP;

/** The same work on the same resource; an instance's backups are one work. An older service does not name the instance. */
const workKey = ({ type, resource, instance_id }: Operation): string =>
  `${type} ${type === BACKUP ? (instance_id ?? resource.name) : resource.id}`;

export interface FailedResource {
  id: string;
  /** Instances only. */
  protection?: { last_backup_at: string | null };
}

/** What failures were on, by its ID, as far as it was looked up; null if it was deleted. */
export type FailedResources = ReadonlyMap<string, FailedResource | null | undefined>;

/** A failed backup counts for its instance, so that its deletion mends nothing; a bulk action's resource is the account. */
export const resourceIdsOf = (failure: Operation): string[] =>
  [failure.instance_id, isBackup(failure) || failure.resource.type === "account" ? null : failure.resource.id].filter(
    (id) => id !== null,
  );

function isResolvedBySubject(failure: Operation, subjects: FailedResources): boolean {
  const resources = resourceIdsOf(failure).map((id) => subjects.get(id));
  return resources.some(
    (subject) => subject === null || (isBackup(failure) && (subject?.protection?.last_backup_at ?? "") > endedAt(failure)),
  );
}

/** Each failed work once, unless it succeeded since, or what it was on has been deleted. */
export function unresolvedFailures(
  failed: readonly Operation[],
  succeeded: readonly Operation[],
  subjects: FailedResources = new Map(),
): Operation[] {
  const newest = new Map(failed.toSorted((a, b) => (endedAt(a) < endedAt(b) ? -1 : 1)).map((each) => [workKey(each), each]));
  const resolves = (success: Operation, failure: Operation): boolean =>
    endedAt(success) > endedAt(failure) &&
    (workKey(success) === workKey(failure) ||
      (success.type.endsWith(".delete") && [failure.resource.id, failure.instance_id].includes(success.resource.id)));
  return [...newest.values()]
    .filter((failure) => !isResolvedBySubject(failure, subjects) && !succeeded.some((success) => resolves(success, failure)))
    .toSorted((a, b) => (endedAt(a) < endedAt(b) ? 1 : -1));
}
