// The search and the filters of a list.
import { type FiltersProps, knownFilters } from "./list-query.ts";
import { ListSearch } from "./list-search.tsx";
import { SavedFilters } from "./saved-filters.tsx";
import { StatusFilter } from "./status-filter.tsx";

export function ListFilters({ title, filters, narrowing, searchable = false, place, go }: FiltersProps) {
  const { find = "", sort = "" } = place;
  return (
    <div className="filters">
      {searchable && (
        <ListSearch
          title={title}
          typed={find}
          onType={(typed) => go({ ...place, page: 1, find: typed })}
          sort={sort}
          onSort={(next) => go({ ...place, page: 1, sort: next })}
        />
      )}
      {filters !== undefined && (
        <StatusFilter
          of={filters}
          chosen={knownFilters(filters, place)}
          onChange={(next) => go({ ...place, page: 1, status: undefined, protection: undefined, health: undefined, ...next })}
        />
      )}
      {narrowing !== undefined && <narrowing.Fields place={place} go={go} />}
      {searchable && <SavedFilters place={place} go={go} />}
    </div>
  );
}
