// Filters of the backups by what else their list can show: instance, kind, restore drill, lock, size and creation.
import { useQuery } from "@tanstack/react-query";
import type { ListedInstance } from "../../../shared/api/instances.ts";
import { instances, type ListQuery } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { ChooserSelect } from "../resource/form/chooser.tsx";
import { createdQuery, MoreFilters } from "../resource/list/created-filter.tsx";
import { FilterSelects } from "../resource/list/filter-select.tsx";
import type { Narrowing } from "../resource/list/list-query.ts";
import { gigabytes } from "../resource/words/size.ts";
import { usePages } from "../resource/page/use-pages.ts";
import type { ListState } from "../resource/list/use-list-state.ts";

const NAMES = ["kind", "drill", "locked", "larger"] as const;
/** The sizes in gigabytes. */
const SIZES = [1, 5, 10, 50] as const;
const GB = 1_000_000_000;

const labelsNow = (): Record<(typeof NAMES)[number], Readonly<Record<string, string>>> => ({
  kind: text.backups.kinds,
  drill: text.backups.filters.drills,
  locked: text.backups.filters.locks,
  larger: Object.fromEntries(SIZES.map((size): [string, string] => [String(size), text.backups.filters.larger(gigabytes(size))])),
});

/** What a link has that is no such filter is left out. */
export function backupQuery(listState: ListState): ListQuery {
  const labels = labelsNow();
  const validFilter = (name: keyof typeof labels) =>
    Object.hasOwn(labels[name], listState[name] ?? "") ? listState[name] : undefined;
  const [kind, drill, locked, larger] = [validFilter("kind"), validFilter("drill"), validFilter("locked"), validFilter("larger")];
  return {
    ...(listState.instance && { instance_id: listState.instance }),
    ...(kind && { kind }),
    ...(drill && { drill }),
    ...(locked && { locked }),
    ...(larger && { size_bytes_above: Number(larger) * GB }),
    ...createdQuery(listState),
  };
}

export const BackupFilters: Narrowing["Fields"] = (props) => (
  <MoreFilters names={[...NAMES, "instance"]} {...props}>
    <InstanceFilter {...props} />
    <Fields {...props} />
  </MoreFilters>
);

/** Those of the backups of one instance. */
export const FiltersOfInstance: Narrowing["Fields"] = (props) => (
  <MoreFilters names={NAMES} {...props}>
    <Fields {...props} />
  </MoreFilters>
);

/** What is typed is looked up; a link may name an instance that is not among the first, or was deleted. */
const InstanceFilter: Narrowing["Fields"] = ({ listState, go }) => {
  const { labels, any, plural, noInstances } = text.backups.filters;
  const { instance: chosen = "" } = listState;
  const pages = usePages(instances.list);
  const { data: chosenInstance } = useQuery({ ...instances.named(chosen), enabled: chosen !== "" });
  const name = chosen === "" ? any.instance : chosenInstance === null ? text.backups.deleted : chosen;
  return (
    <div className="filter">
      <ChooserSelect<Pick<ListedInstance, "id" | "name">>
        ariaLabel={labels.instance}
        any={any.instance}
        pages={pages}
        initially={chosenInstance ?? { id: chosen, name }}
        optionOf={({ name }) => ({ label: name })}
        chosen={chosen}
        onChange={(instance) => go({ ...listState, page: 1, instance })}
        placeholder={any.instance}
        plural={plural}
        empty={noInstances}
      />
    </div>
  );
};

const Fields: Narrowing["Fields"] = ({ listState, go }) => {
  const say = text.backups.filters;
  const labels = labelsNow();
  const optionsOf = (name: keyof typeof labels) => Object.entries(labels[name]).map(([value, label]) => ({ value, label }));
  const options = {
    kind: optionsOf("kind"),
    drill: optionsOf("drill"),
    locked: optionsOf("locked"),
    larger: optionsOf("larger"),
  };
  return <FilterSelects say={say} names={NAMES} options={options} listState={listState} go={go} />;
};
