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
  const { title, searchable = false, narrowing, listState, go } = props;
  const narrow = useNarrow();
  const [open, setOpen] = useState(false);
  if (!canNarrow(props)) return null;
  return (
    <div className="filters">
      {searchable && (
        <ListSearch
          title={title}
          typed={listState.find ?? ""}
          placeholder={narrowing?.placeholder}
          onType={(typed) => go({ ...listState, page: 1, find: typed })}
        />
      )}
      {narrow && (
        <Button iconName="filter" ariaExpanded={open} onClick={() => setOpen(!open)}>
          {text.resource.find.filters(filtersIn(listState))}
        </Button>
      )}
      {(open || !narrow) && <Others {...props} />}
    </div>
  );
}

/** Removes what a label's button has added. */
function LabelChosen({ listState, go }: Pick<FiltersProps, "listState" | "go">) {
  const label = labelIn(listState);
  if (label === undefined) return null;
  const [key = "", ...value] = label.split(":");
  return (
    <Button iconName="close" iconAlign="right" onClick={() => go({ ...listState, page: 1, label: undefined })}>
      {text.resource.find.onlyLabel(labelInWords([key, value.join(":")]))}
    </Button>
  );
}

const filtersIn = (listState: ListState): number =>
  PARAMETERS.filter((name) => name !== "find" && name !== "sort" && listState[name]).length;

function Others({ filters, narrowing, searchable = false, prefix = "", listState, go, tools }: FiltersProps) {
  return (
    <>
      {searchable && <ListSort sort={listState.sort ?? ""} onSort={(next) => go({ ...listState, page: 1, sort: next })} />}
      {filters !== undefined && (
        <StatusFilter
          of={filters}
          chosen={knownFilters(filters, listState)}
          onChange={(next) => go({ ...listState, page: 1, status: undefined, protection: undefined, health: undefined, ...next })}
        />
      )}
      {narrowing !== undefined && <narrowing.Fields listState={listState} go={go} />}
      {searchable && <LabelChosen listState={listState} go={go} />}
      {(searchable || narrowing !== undefined) && <SavedFilters prefix={prefix} listState={listState} go={go} />}
      {tools}
    </>
  );
}
