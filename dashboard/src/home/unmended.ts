// The failures that no later success has mended.
import type { Operation } from "../../../shared/api/operations.ts";

/** When it ended. */
export const endOf = ({ finished_at, created_at }: Operation): string => finished_at ?? created_at;

/** The same work on the same resource; an instance's backups are one work. An older service does not name the instance. */
const workOn = ({ type, resource, instance_id }: Operation): string =>
  `${type} ${type === "backup.create" ? (instance_id ?? resource.name) : resource.id}`;

/** Each failed work once, unless it succeeded since, or what it was on has been deleted. */
export function unmended(failed: readonly Operation[], succeeded: readonly Operation[]): Operation[] {
  const newest = new Map(failed.toSorted((a, b) => (endOf(a) < endOf(b) ? -1 : 1)).map((each) => [workOn(each), each]));
  const mends = (success: Operation, failure: Operation): boolean =>
    endOf(success) > endOf(failure) &&
    (workOn(success) === workOn(failure) ||
      (success.type.endsWith(".delete") && [failure.resource.id, failure.instance_id].includes(success.resource.id)));
  return [...newest.values()]
    .filter((failure) => !succeeded.some((success) => mends(success, failure)))
    .toSorted((a, b) => (endOf(a) < endOf(b) ? 1 : -1));
}
