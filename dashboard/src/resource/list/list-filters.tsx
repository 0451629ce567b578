// The search and the filters of a list. A phone shows the search alone, and the rest once the user opens it.
import Button from "@cloudscape-design/components/button";
import { useState } from "react";
import { useNarrow } from "../../app/narrow.ts";
import { text } from "../../messages/text.ts";
import { labelInWords } from "./labels.tsx";
import { canNarrow, type FiltersProps, knownFilters, labelIn } from "./list-query.ts";
import { ListSearch, ListSort } from "./list-search.tsx";
import { SavedFilters } from "./saved-filters.tsx";
import { StatusFilter } from "./status-filter.tsx";
import { PARAMETERS, type ListState } from "./use-list-state.ts";

export function ListFilters(props: FiltersProps) {
  const { title, searchable = false, narrowing, place, go } = props;
  const narrow = useNarrow();
  const [open, setOpen] = useState(false);
  if (!canNarrow(props)) return null;
  return (
    <div className="filters">
      {searchable && (
        <ListSearch
          title={title}
          typed={place.find ?? ""}
          placeholder={narrowing?.placeholder}
          onType={(typed) => go({ ...place, page: 1, find: typed })}
        />
      )}
      {narrow && (
        <Button iconName="filter" ariaExpanded={open} onClick={() => setOpen(!open)}>
          {text.resource.find.filters(filtersIn(place))}
        </Button>
      )}
      {(open || !narrow) && <Others {...props} />}
    </div>
  );
}

/** Removes what a label's button has added. */
function LabelChosen({ place, go }: Pick<FiltersProps, "place" | "go">) {
  const label = labelIn(place);
  if (label === undefined) return null;
  const [key = "", ...value] = label.split(":");
  return (
    <Button iconName="close" iconAlign="right" onClick={() => go({ ...place, page: 1, label: undefined })}>
      {text.resource.find.onlyLabel(labelInWords([key, value.join(":")]))}
    </Button>
  );
}

const filtersIn = (place: ListState): number =>
  PARAMETERS.filter((name) => name !== "find" && name !== "sort" && place[name]).length;

function Others({ filters, narrowing, searchable = false, prefix = "", place, go, tools }: FiltersProps) {
  return (
    <>
      {searchable && <ListSort sort={place.sort ?? ""} onSort={(next) => go({ ...place, page: 1, sort: next })} />}
      {filters !== undefined && (
        <StatusFilter
          of={filters}
          chosen={knownFilters(filters, place)}
          onChange={(next) => go({ ...place, page: 1, status: undefined, protection: undefined, health: undefined, ...next })}
        />
      )}
      {narrowing !== undefined && <narrowing.Fields place={place} go={go} />}
      {searchable && <LabelChosen place={place} go={go} />}
      {(searchable || narrowing !== undefined) && <SavedFilters prefix={prefix} place={place} go={go} />}
      {tools}
    </>
  );
}
