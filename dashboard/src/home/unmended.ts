// The failures that nothing has mended: no later success, and no deletion of what they were on.
import type { Operation } from "../../../shared/api/operations.ts";
import type { OperationType } from "../../../shared/domain/lifecycle.ts";

const BACKUP: OperationType = "backup.create";

/** When it ended. */
export const endOf = ({ finished_at, created_at }: Operation): string => finished_at ?? created_at;

export const isBackup = ({ type }: Pick<Operation, "type">): boolean => type === BACKUP;

/** The same work on the same resource; an instance's backups are one work. An older service does not name the instance. */
const workOn = ({ type, resource, instance_id }: Operation): string =>
  `${type} ${type === BACKUP ? (instance_id ?? resource.name) : resource.id}`;

export interface Subject {
  id: string;
  /** Instances only. */
  protection?: { last_backup_at: string | null };
}

/** What failures were on, by its ID, as far as it was looked up; null if it was deleted. */
export type Subjects = ReadonlyMap<string, Subject | null | undefined>;

/** That of a backup is the instance: nothing is mended because the failed backup is deleted. A bulk action's is the account. */
export const subjectsOf = (failure: Operation): string[] =>
  [failure.instance_id, isBackup(failure) || failure.resource.type === "account" ? null : failure.resource.id].filter(
    (id) => id !== null,
  );

function isMendedBySubject(failure: Operation, subjects: Subjects): boolean {
  const found = subjectsOf(failure).map((id) => subjects.get(id));
  return found.some(
    (subject) => subject === null || (isBackup(failure) && (subject?.protection?.last_backup_at ?? "") > endOf(failure)),
  );
}

/** Each failed work once, unless it succeeded since, or what it was on has been deleted. */
export function unmended(
  failed: readonly Operation[],
  succeeded: readonly Operation[],
  subjects: Subjects = new Map(),
): Operation[] {
  const newest = new Map(failed.toSorted((a, b) => (endOf(a) < endOf(b) ? -1 : 1)).map((each) => [workOn(each), each]));
  const mends = (success: Operation, failure: Operation): boolean =>
    endOf(success) > endOf(failure) &&
    (workOn(success) === workOn(failure) ||
      (success.type.endsWith(".delete") && [failure.resource.id, failure.instance_id].includes(success.resource.id)));
  return [...newest.values()]
    .filter((failure) => !isMendedBySubject(failure, subjects) && !succeeded.some((success) => mends(success, failure)))
    .toSorted((a, b) => (endOf(a) < endOf(b) ? 1 : -1));
}
