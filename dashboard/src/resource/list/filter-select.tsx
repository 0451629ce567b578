// Filters of a list, each by one of a few values.
import Select from "@cloudscape-design/components/select";
import type { FiltersProps } from "./list-query.ts";
import type { Parameter } from "./use-list-state.ts";

type Options = readonly { value: string; label: string }[];

interface Props {
  label: string;
  /** What it says while nothing is chosen. */
  any: string;
  options: Options;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

/** With so few, the user needs no search. */
const SEARCHED_FROM = 8;

function FilterSelect({ label, any, options, value, onChange }: Props) {
  const all = [{ value: "", label: any }, ...options];
  return (
    <div className="filter">
      <Select
        ariaLabel={label}
        filteringType={options.length > SEARCHED_FROM ? "auto" : "none"}
        filteringAriaLabel={label}
        options={all}
        // A link may name one that is not offered any more.
        selectedOption={all.find((option) => option.value === (value ?? "")) ?? { value: value ?? "", label: value ?? "" }}
        onChange={({ detail }) => onChange(detail.selectedOption.value || undefined)}
      />
    </div>
  );
}

interface SelectsProps<Name extends Parameter> extends Pick<FiltersProps, "listState" | "go"> {
  say: Readonly<Record<"labels" | "any", Readonly<Record<Name, string>>>>;
  names: readonly Name[];
  options: Readonly<Record<Name, Options>>;
}

/** One for each name, which is the filter's in the page's address, too. */
export const FilterSelects = <Name extends Parameter>({ say, names, options, listState, go }: SelectsProps<Name>) =>
  names.map((name) => (
    <FilterSelect
      key={name}
      label={say.labels[name]}
      any={say.any[name]}
      options={options[name]}
      value={listState[name]}
      onChange={(value) => go({ ...listState, page: 1, [name]: value })}
    />
  ));
