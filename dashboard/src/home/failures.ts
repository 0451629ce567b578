// The failures of the last days that nothing has mended.
import { useQueries, useQuery } from "@tanstack/react-query";
import type { Operation } from "../../../shared/api/operations.ts";
import { DAY_MS } from "../../../shared/domain/durations.ts";
import { OPERATION } from "../../../shared/domain/lifecycle.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import { needsOf, useMay } from "../app/may.tsx";
import { backups, instances, operations, type QueryMeta, type Question, servers } from "../app/queries.ts";
import { serviceNow } from "../session/clock.ts";
import { endedAt, isBackup, type FailedResource, resourceIdsOf, unresolvedFailures } from "./unresolved-failures.ts";

const DAYS = 7;

const isRecent = (at: string): boolean => Date.parse(at) > serviceNow() - DAYS * DAY_MS;

/** How many the page names of each kind. */
export const SHOWN = 5;

/** One request if nothing has failed, and two in an account that does not do a hundred things in that time. */
export function useFailures() {
  // The API lists operations by their start, so one that took long and has just failed may be far down.
  const may = useMay();
  const failed = useQuery({
    ...operations.list({ status: OPERATION.failed, per_page: PER_PAGE_MAX }),
    enabled: may(...needsOf("/operations")),
  });
  const recent = (failed.data?.data ?? []).filter((each) => isRecent(endedAt(each)) && each.error?.code !== "CANCELLED");
  const since = recent.map(({ created_at }) => created_at).toSorted()[0];
  const succeeded = useQuery({
    ...operations.list({ status: OPERATION.succeeded, created_after: since, per_page: PER_PAGE_MAX }),
    enabled: since !== undefined,
  });
  const { data: successes = [], meta } = succeeded.data ?? {};
  const unresolved = unresolvedFailures(recent, successes);
  const further = useFurtherSuccesses(meta?.next_cursor == null ? [] : unresolved, since);
  const queries = [failed, succeeded, ...further.queries];
  return {
    queries,
    // Each once it is known whether it is mended.
    failures:
      failed.isLoading || succeeded.isLoading
        ? []
        : unresolvedFailures(unresolved, further.successes, further.subjects).filter((each) => !further.isLoading(each)),
  };
}

/** How many types are looked up further: with more failing at once, the service has another problem. */
const TYPES_MAX = 3;

/**
 * Looks up what may have mended failures where one page of successes is not all of them: a big account's last night alone has
 * more. Backups by their instances, all in one request, and other work by one request for each type; and where that is not all of
 * a type either, by one for each resource that the page names.
 */
function useFurtherSuccesses(failures: readonly Operation[], since: string | undefined) {
  const ids = [...new Set(failures.flatMap(resourceIdsOf))];
  const resourceQueries = useQueries({ queries: ids.map(resourceQuery) });
  const types = [...new Set(failures.filter((each) => !isBackup(each)).map(({ type }) => type))].slice(0, TYPES_MAX);
  const lists = useQueries({
    queries: types.map((type) =>
      operations.list({ status: OPERATION.succeeded, type, created_after: since, per_page: PER_PAGE_MAX }),
    ),
  });
  const subjects = new Map(ids.map((id, n) => [id, resourceQueries[n]?.data]));
  const ofTypes = lists.flatMap(({ data }) => data?.data ?? []);
  const truncatedTypes = types.filter((_, n) => lists[n]?.data?.meta.next_cursor != null);
  const undecided = unresolvedFailures(failures, ofTypes, subjects).filter(({ type }) => truncatedTypes.includes(type));
  const isFound = [...resourceQueries, ...lists].every(({ isLoading }) => !isLoading);
  const lookedUp = undecided.slice(0, SHOWN);
  const resourceSuccesses = useQueries({ queries: isFound ? lookedUp.map((each) => succeededSince(each, since)) : [] });
  const isLoading = (failure: Operation): boolean => {
    const at = lookedUp.indexOf(failure);
    return (
      resourceIdsOf(failure).some((id) => resourceQueries[ids.indexOf(id)]?.isLoading === true) ||
      lists[types.indexOf(failure.type)]?.isLoading === true ||
      (at !== -1 && resourceSuccesses[at]?.isLoading !== false)
    );
  };
  return {
    queries: [...resourceQueries, ...lists, ...resourceSuccesses],
    isLoading,
    subjects,
    successes: [...ofTypes, ...resourceSuccesses.flatMap(({ data }) => data?.data ?? [])],
  };
}

/** Whether the work has succeeded so far. A later success is among the newest, which the page asks for with each change. */
const succeededSince = ({ type, resource }: Operation, since: string | undefined) => ({
  ...operations.list({ status: OPERATION.succeeded, type, resource_id: resource.id, created_after: since, per_page: 1 }),
  meta: { changedBy: [] } satisfies QueryMeta,
});

/** Lookups of one kind are batched into one request. */
function resourceQuery(id: string): Question<FailedResource | null> {
  if (id.startsWith("ins_")) return instances.named(id);
  return id.startsWith("srv_") ? servers.named(id) : backups.named(id);
}
