// Filters of the backups by what else their list can show: kind, restore drill and creation.
import type { ListQuery } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { createdQuery, MoreFilters } from "../resource/created-filter.tsx";
import { FilterSelects } from "../resource/filter-select.tsx";
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
  <MoreFilters names={NAMES} {...props}>
    <Fields {...props} />
  </MoreFilters>
);

const Fields: Narrowing["Fields"] = ({ place, go }) => {
  const say = text.backups.filters;
  const labels = labelsNow();
  const optionsOf = (name: keyof typeof labels) => Object.entries(labels[name]).map(([value, label]) => ({ value, label }));
  const options = { kind: optionsOf("kind"), drill: optionsOf("drill") };
  return <FilterSelects say={say} names={NAMES} options={options} place={place} go={go} />;
};
