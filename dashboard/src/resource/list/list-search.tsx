// Searches a list by words and labels, and sorts it.
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import { useEffect, useRef, useState } from "react";
import { text } from "../../messages/text.ts";
import { SORTS } from "./list-query.ts";
import { useSettled } from "../page/use-pages.ts";

const PAUSE_MS = 300;
interface Props {
  /** The list's title: "Instances". */
  title: string;
  typed: string;
  placeholder?: string | undefined;
  onType: (typed: string) => void;
}

export function ListSearch({ title, typed, placeholder = text.resource.find.placeholder, onType }: Props) {
  const say = text.resource.find;
  const [latest, setLatest] = useState(typed);
  const settled = useSettled(latest, PAUSE_MS);
  const searched = useRef(typed);
  useEffect(() => {
    // The Back button. What was asked for arrives here, too, when the user may have typed on.
    if (typed !== searched.current) setLatest(typed);
    searched.current = typed;
  }, [typed]);
  useEffect(() => {
    if (settled !== latest || settled === typed) return;
    searched.current = settled;
    onType(settled);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only what was typed asks for something else
  }, [settled]);
  return (
    <div className="filter find">
      <Input
        type="search"
        ariaLabel={say.label(title)}
        placeholder={placeholder}
        value={latest}
        onChange={({ detail }) => setLatest(detail.value)}
      />
    </div>
  );
}

export function ListSort({ sort, onSort }: { sort: string; onSort: (sort: string) => void }) {
  const say = text.resource.find;
  const sorts = SORTS.map(({ value }) => ({ value, label: say.sorts[value] }));
  return (
    <div className="filter">
      <Select
        ariaLabel={say.sort}
        options={sorts}
        selectedOption={sorts.find(({ value }) => value === sort) ?? sorts[0] ?? null}
        onChange={({ detail }) => onSort(detail.selectedOption.value ?? "")}
      />
    </div>
  );
}
