// Filters a list by status, and where it has one by another field as well.
import Select from "@cloudscape-design/components/select";
import { STATUSES } from "./status.tsx";
import type { FilterName } from "./use-place.ts";

/** The fields that a list can be filtered by, and whose statuses they have. */
export type Filters = Partial<Record<FilterName, keyof typeof STATUSES>>;

interface Filter {
  name: FilterName;
  value: string;
}

const ANY = { value: "", label: "Any status" };
const TITLES: Record<FilterName, string> = { status: "Status", protection: "Protection" };

/** The filter of a link, if the list has it. */
export const knownFilter = (filters: Filters, filter: Filter | undefined): Filter | undefined => {
  const kind = filter && filters[filter.name];
  return kind !== undefined && Object.hasOwn(STATUSES[kind], filter?.value ?? "") ? filter : undefined;
};

interface Props {
  of: Filters;
  filter: Filter | undefined;
  onChange: (filter: Filter | undefined) => void;
}

export function StatusFilter({ of, filter, onChange }: Props) {
  const groups = (["status", "protection"] as const).flatMap((name) => {
    const kind = of[name];
    if (kind === undefined) return [];
    const options = Object.entries(STATUSES[kind]).map(([value, { word }]) => ({
      value: `${name} ${value}`,
      label: word,
      name,
      status: value,
    }));
    return [{ label: TITLES[name], options }];
  });
  const all = groups.flatMap(({ options }) => options);
  const chosen = all.find(({ name, status }) => name === filter?.name && status === filter.value);
  return (
    <div className="filter">
      <Select
        ariaLabel="Filter by status"
        options={[ANY, ...(groups.length > 1 ? groups : all)]}
        selectedOption={chosen ?? ANY}
        onChange={({ detail }) => {
          const next = all.find(({ value }) => value === detail.selectedOption.value);
          onChange(next && { name: next.name, value: next.status });
        }}
      />
    </div>
  );
}
