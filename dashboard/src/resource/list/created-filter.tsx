// Filters a list by when its records were created.
import Button from "@cloudscape-design/components/button";
import { type ReactNode, useState } from "react";
import type { ListQuery } from "../../app/queries.ts";
import { text } from "../../messages/text.ts";
import type { FiltersProps } from "./list-query.ts";
import { addressOfField, fieldOfAddress, momentOfAddress, useZone } from "../words/moment.ts";
import type { Parameter, ListState } from "./use-list-state.ts";

const NAMES = ["from", "to"] as const;

export function createdQuery({ from = "", to = "" }: ListState): ListQuery {
  const [created_after, created_before] = [momentOfAddress(from), momentOfAddress(to)];
  return { ...(created_after && { created_after }), ...(created_before && { created_before }) };
}

interface Props extends Pick<FiltersProps, "listState" | "go"> {
  labels?: Readonly<Record<(typeof NAMES)[number], string>>;
}

export function CreatedFilter({ listState, go, labels = text.resource.find.created }: Props) {
  useZone(); // a time is another one there
  return NAMES.map((name) => (
    <label key={name} className="moment">
      {labels[name]}
      <input
        className="date"
        type="datetime-local"
        value={fieldOfAddress(listState[name] ?? "")}
        onChange={({ target }) => go({ ...listState, page: 1, [name]: addressOfField(target.value) })}
      />
    </label>
  ));
}

interface MoreFiltersProps extends Props {
  /** The filters that `children` shows. */
  names: readonly Parameter[];
  children: ReactNode;
}

/** Filters that few need, and when records were created: behind a button, unless one of them is chosen. */
export function MoreFilters({ names, listState, children, ...props }: MoreFiltersProps) {
  const [open, setOpen] = useState([...names, ...NAMES].some((name) => listState[name]));
  if (!open) return <Button onClick={() => setOpen(true)}>{text.resource.find.more}</Button>;
  return (
    <>
      {children}
      <CreatedFilter listState={listState} {...props} />
    </>
  );
}
