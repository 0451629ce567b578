// What a list asks the API for: its filters, the words and labels to find, and the order.
import type { ComponentType, ReactNode } from "react";
import type { ListQuery } from "../../app/queries.ts";
import { withoutUrls } from "./pasted.ts";
import { STATUSES } from "../words/status.tsx";
import type { FilterName, ListState } from "./use-list-state.ts";

/** The fields that a list can be filtered by, and whose statuses they have. */
export type Filters = Partial<Record<FilterName, keyof typeof STATUSES>>;

export const NAMES = ["status", "protection", "health"] as const;

/** Filters of one list alone. */
export interface Narrowing {
  query: (listState: ListState) => ListQuery;
  /** What it asks for anyway: that leaves out nothing which the user would look for. */
  always?: readonly string[];
  /** What the field of the search says, where it does not find what it finds in other lists. */
  placeholder?: string;
  Fields: ComponentType<Pick<FiltersProps, "listState" | "go">>;
}

interface Asking {
  filters?: Filters;
  narrowing?: Narrowing;
  searchable?: boolean;
}

export interface FiltersProps extends Asking {
  title: string;
  prefix?: string;
  listState: ListState;
  go: (next: ListState) => void;
  /** What of the list's tools a phone has no other room for. */
  tools: ReactNode;
}

/** Whether a list has any of them. */
export const canNarrow = ({ filters, narrowing, searchable = false }: Asking): boolean =>
  searchable || filters !== undefined || narrowing !== undefined;

export type Chosen = Partial<Record<FilterName, string>>;

/** The filters of a link that the list has. */
export const knownFilters = (filters: Filters, listState: ListState): Chosen =>
  Object.fromEntries(
    NAMES.flatMap((name) => {
      const [kind, value] = [filters[name], listState[name]];
      return kind !== undefined && value !== undefined && Object.hasOwn(STATUSES[kind], value) ? [[name, value]] : [];
    }),
  );

const LABEL = /^[a-z0-9][a-z0-9_.-]{0,62}:/;

/** The label of a link or of a row's button. A value may have blanks, which what is typed cannot. */
export const labelIn = ({ label }: ListState): string | undefined => (LABEL.test(label ?? "") ? label : undefined);

const IPV4 = /^\d+(\.\d+){3}:/;
const IPV6 = /^[0-9a-f]*(:[0-9a-f]*){2,}$/;

/** `env:production` is a label, but no word before a colon, no address with a port and none with colons. */
const isLabel = (typed: string): boolean => LABEL.test(typed) && !typed.endsWith(":") && !IPV4.test(typed) && !IPV6.test(typed);

/** What a list is asked for: labels, and anything else is searched for as words. */
function parseTyped(typed: string, chosen: string | undefined): ListQuery {
  const parts = withoutUrls(typed)
    .split(/\s+/)
    .filter((part) => part !== "");
  const label = [...(chosen === undefined ? [] : [chosen]), ...parts.filter(isLabel)];
  const search = parts.filter((part) => !isLabel(part)).join(" ");
  return { ...(label.length > 0 && { label }), ...(/[\p{L}\p{N}]/u.test(search) && { search: search.slice(0, 100) }) };
}

export const SORTS = [
  { value: "", query: {} },
  { value: "oldest", query: { order: "asc" } },
  { value: "name", query: { sort: "name" } },
  { value: "name-desc", query: { sort: "name", order: "desc" } },
] as const;

const isAnyChosen = (query: ListQuery, always: readonly string[] = []): boolean =>
  Object.entries(query).some(([name, value]) => value !== undefined && !always.includes(name));

/** What a list is asked for beside the page: its filters, the words and labels to find, and the order. */
export function buildQuery(props: Asking, listState: ListState) {
  const { filters, narrowing, searchable = false } = props;
  const narrowed = narrowing?.query(listState) ?? {};
  const chosen = filters === undefined ? {} : knownFilters(filters, listState);
  const { find = "", sort = "" } = searchable ? listState : {};
  const label = searchable ? labelIn(listState) : undefined;
  return {
    query: { ...chosen, ...narrowed, ...parseTyped(find, label), ...SORTS.find(({ value }) => value === sort)?.query },
    filtered: isAnyChosen({ ...chosen, ...narrowed }, narrowing?.always) || find !== "" || label !== undefined,
  };
}
