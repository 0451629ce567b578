// Filters a list by status, and where it has one by another field as well: both can be chosen.
import Select from "@cloudscape-design/components/select";
import { text } from "../../messages/text.ts";
import { shownOf, STATUSES } from "../words/status.tsx";
import { type Chosen, type Filters, NAMES } from "./list-query.ts";

interface Props {
  of: Filters;
  chosen: Chosen;
  onChange: (chosen: Chosen) => void;
}

export function StatusFilter({ of, chosen, onChange }: Props) {
  return NAMES.flatMap((name) => {
    const kind = of[name];
    if (kind === undefined) return [];
    const any = { value: "", label: text.resource.find.any[name] };
    const options = [any, ...Object.keys(STATUSES[kind]).map((value) => ({ value, label: shownOf(kind, value).word }))];
    return [
      <div className="filter" key={name}>
        <Select
          ariaLabel={text.resource.find.filter[name]}
          options={options}
          selectedOption={options.find(({ value }) => value === chosen[name]) ?? any}
          onChange={({ detail: { selectedOption } }) => {
            const { [name]: _, ...otherFilters } = chosen;
            onChange(selectedOption.value ? { ...otherFilters, [name]: selectedOption.value } : otherFilters);
          }}
        />
      </div>,
    ];
  });
}
