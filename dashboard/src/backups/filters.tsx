// Filters of the backups by what else their list can show: kind, restore drill and creation.
import type { ListQuery } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { CreatedFilter, createdQuery, isCreatedChosen, MoreFilters } from "../resource/created-filter.tsx";
import { FilterSelect } from "../resource/filter-select.tsx";
import type { Narrowing } from "../resource/list-query.ts";
import type { Place } from "../resource/use-place.ts";

const NAMES = ["kind", "drill"] as const;

const labelsNow = (): Record<(typeof NAMES)[number], Readonly<Record<string, string>>> => ({
  kind: text.backups.kinds,
  drill: text.backups.filters.drills,
});

/** What a link has that is no such filter is left out. */
export function backupQuery(place: Place): ListQuery {
  const labels = labelsNow();
  const chosen = NAMES.flatMap((name) => (Object.hasOwn(labels[name], place[name] ?? "") ? [[name, place[name]]] : []));
  return { ...Object.fromEntries(chosen), ...createdQuery(place) };
}

export const BackupFilters: Narrowing["Fields"] = (props) => (
  <MoreFilters chosen={NAMES.some((name) => props.place[name]) || isCreatedChosen(props.place)}>
    <Fields {...props} />
    <CreatedFilter {...props} />
  </MoreFilters>
);

const Fields: Narrowing["Fields"] = ({ place, go }) => {
  const say = text.backups.filters;
  const labels = labelsNow();
  return NAMES.map((name) => (
    <FilterSelect
      key={name}
      label={say.labels[name]}
      any={say.any[name]}
      options={Object.entries(labels[name]).map(([value, label]) => ({ value, label }))}
      value={place[name]}
      onChange={(value) => go({ ...place, page: 1, [name]: value })}
    />
  ));
};
