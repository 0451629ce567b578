// A list of resources: searched, filtered, sorted and paged by the API, as a table or, on a phone, as cards.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Cards from "@cloudscape-design/components/cards";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ComponentType, type ReactNode, useMemo, useState } from "react";
import type { ListMeta } from "../../../shared/api/fields.ts";
import { Failure } from "../app/failure.tsx";
import { lazily } from "../app/lazily.tsx";
import type { ListQuery, Question } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import type { Column } from "./column.ts";
import { useAllPages } from "./all-pages.ts";
import { ExportButton } from "./export-button.tsx";
import { useNarrow } from "./narrow.ts";
import { buildQuery, type Filters as FilterKinds, type FiltersProps, type Narrowing } from "./list-query.ts";
import { SelectionBar } from "./selection-bar.tsx";
import { Updated } from "./updated.tsx";
import { useFocusNext } from "./use-focus-next.ts";
import { type Place, usePlace } from "./use-place.ts";
import { inDigits } from "./number.ts";
import { Paging } from "./paging.tsx";
import { usePreferences } from "./use-preferences.ts";
import { useSelection } from "./use-selection.ts";

const PreferencesDialog = lazily(async () => (await import("./preferences.tsx")).PreferencesDialog);

const PER_PAGE = 20;

export interface TableProps<Item> {
  title: string;
  /** One of `app/queries.ts`. */
  list: (query: ListQuery) => Question<{ data: Item[]; meta: ListMeta }>;
  /** A fixed filter: the instances of one server. */
  only?: ListQuery;
  /** The list can be searched and sorted. */
  searchable?: boolean;
  /** Adds a filter by these fields. */
  filters?: FilterKinds;
  /** Filters of this list alone. */
  narrowing?: Narrowing;
  /** The fields of the search and the filters: only pages that have some load them. */
  Filters?: ComponentType<FiltersProps>;
  /** The first column identifies the record. */
  columns: readonly [Column<Item>, ...Column<Item>[]];
  /** The text for an empty list, with what to do then. */
  empty: ReactNode;
  actions?: ReactNode;
  description?: string;
  /** The list is the whole page: its heading is the page's. */
  main?: boolean;
  /** Distinguishes the lists of one page in its URL; a page's only list needs none. */
  prefix?: string;
  perPage?: number;
  /** The actions on selected records. */
  bulk?: ComponentType<{ selected: readonly Item[]; onDone: () => void }>;
  /** What a record is called that has no name. */
  nameOf?: (item: Item) => string;
}

/** What a list shows: where the user is in it, how they want to see it, and what the API returned for that. */
function useListed<Item extends { id: string }>(props: TableProps<Item>) {
  const { list, only = {}, prefix = "" } = props;
  const [preferences, setPreferences] = usePreferences(prefix);
  const [here, goTo] = usePlace(prefix);
  const place = { ...here, sort: here.sort ?? preferences.sort };
  const go = (next: Place): void => {
    if ((next.sort ?? "") !== (place.sort ?? "")) setPreferences({ ...preferences, sort: next.sort });
    goTo(next);
  };
  const { perPage = props.perPage ?? PER_PAGE } = preferences;
  const { query: asked, filtered } = buildQuery(props, place);
  const all = { ...asked, ...only };
  const query = useQuery({ ...list({ page: place.page, per_page: perPage, ...all }), placeholderData: keepPreviousData });
  const columns = useMemo((): typeof props.columns => {
    const [first, ...others] = props.columns;
    return [first, ...others.filter(({ id, hidden = false }) => preferences.columns?.[id] ?? !hidden)];
  }, [props.columns, preferences.columns]);
  return { place, go, preferences, setPreferences, perPage, filtered, asked: all, query, columns };
}

export function ResourceTable<Item extends { id: string }>(props: TableProps<Item>) {
  const { title, list, Filters, empty, bulk: Bulk, nameOf = ownName } = props;
  const listed = useListed(props);
  const { place, go, perPage, filtered, asked, query, columns, preferences } = listed;
  const { data: items = [], meta } = query.data ?? {};
  const box = useFocusNext(query.data);
  const { selected, selectShown, select } = useSelection(items, JSON.stringify({ ...asked, sort: "", order: "" }));
  const everything = useAllPages(list, asked, select);
  /** What the user selects counts, and not what arrives after it. */
  const selectNow = (choose: () => void): void => {
    everything.cancel();
    choose();
  };
  const pages = Math.max(1, Math.ceil((meta?.total ?? 0) / perPage));
  const [total, sort] = [meta?.total ?? 0, place.sort];

  const failure = query.isError && <Failure error={query.error} retry={() => void query.refetch()} />;
  const shared = {
    items,
    loading: query.isPending,
    loadingText: text.resource.list.loading,
    trackBy: "id",
    empty: failure || <Nothing empty={empty} filtered={filtered} past={place.page > 1} onClear={() => go({ page: 1, sort })} />,
    header: (
      <SpaceBetween size="s">
        {items.length > 0 && failure}
        {selected.length > 0 && everything.error !== null && <Failure error={everything.error} />}
        <ListHeader
          {...props}
          {...(selected.length > 0 && {
            description: <SelectionBar {...{ selected, total, everything }} onClear={() => selectNow(() => select([]))} />,
          })}
          total={meta}
          updatedAt={query.dataUpdatedAt}
          refreshing={query.isRefetching}
          onRefresh={() => void query.refetch()}
          selected={selected.length}
          tools={<Tools of={props} listed={listed} total={total} />}
          onSelection={Bulk !== undefined && <Bulk selected={everything.pending ? [] : selected} onDone={() => select([])} />}
        />
      </SpaceBetween>
    ),
    ...(Filters !== undefined && { filter: <Filters {...props} place={place} go={go} /> }),
    // The rows of an earlier filter, shown until the right ones arrive, are not for selecting.
    ...(Bulk !== undefined && selectable(selected, (items) => selectNow(() => selectShown(items)), query.isPlaceholderData)),
  };
  return (
    <div ref={box} className="list">
      <CardsOrTable title={title} nameOf={nameOf} columns={columns} compact={preferences.compact ?? false} shared={shared} />
      {/* Below the rows, so that nothing moves when the number of pages is known. */}
      {pages > 1 && (
        <div className="pages">
          <Paging page={place.page} pages={pages} onPage={(page) => go({ ...place, page })} />
        </div>
      )}
    </div>
  );
}

const selectable = <Item,>(selected: readonly Item[], onSelect: (items: readonly Item[]) => void, disabled: boolean) => ({
  selectionType: "multi" as const,
  selectedItems: selected,
  isItemDisabled: () => disabled,
  onSelectionChange: ({ detail }: { detail: { selectedItems: Item[] } }) => onSelect(detail.selectedItems),
});

interface ToolsProps<Item extends { id: string }> {
  of: TableProps<Item>;
  listed: ReturnType<typeof useListed<Item>>;
  total: number;
}

/** The file and the preferences of a list. */
function Tools<Item extends { id: string }>({
  of: { title, list, columns: all, perPage, main = false },
  ...rest
}: ToolsProps<Item>) {
  const { listed, total } = rest;
  const { asked, columns, preferences, setPreferences } = listed;
  const [open, setOpen] = useState(false);
  return (
    <SpaceBetween direction="horizontal" size="xs">
      {main && total > 0 && <ExportButton title={title} list={list} query={asked} columns={columns} />}
      <Button
        variant="icon"
        iconName="settings"
        ariaLabel={text.resource.preferences.title(title)}
        onClick={() => setOpen(true)}
      />
      {open && (
        <PreferencesDialog
          title={title}
          perPage={perPage ?? PER_PAGE}
          columns={all.slice(1).map(({ id, header, hidden = false }) => ({ id, header, shown: !hidden }))}
          preferences={preferences}
          onSave={(next) => {
            setPreferences(next);
            setOpen(false);
            if (next.perPage !== preferences.perPage) listed.go({ ...listed.place, page: 1 });
          }}
          onDismiss={() => setOpen(false)}
        />
      )}
    </SpaceBetween>
  );
}

interface HeaderProps extends Pick<TableProps<never>, "title" | "main" | "actions"> {
  description?: ReactNode;
  total: ListMeta | undefined;
  updatedAt: number;
  refreshing: boolean;
  onRefresh: () => void;
  selected: number;
  tools: ReactNode;
  onSelection: ReactNode;
}

function ListHeader(props: HeaderProps) {
  const { title, main = false, description, actions, total, updatedAt, refreshing, onRefresh, selected } = props;
  const all = `${inDigits(total?.total ?? 0)}${total?.total_capped ? "+" : ""}`;
  return (
    <Header
      variant={main ? "h1" : "h2"}
      {...(total !== undefined && { counter: selected > 0 ? `(${inDigits(selected)}/${all})` : `(${all})` })}
      description={description}
      actions={
        <SpaceBetween direction="horizontal" size="xs" alignItems="center">
          <Updated at={updatedAt} />
          <Button
            variant="icon"
            iconName="refresh"
            ariaLabel={text.resource.list.refresh(title)}
            loading={refreshing}
            onClick={onRefresh}
          />
          {props.tools}
          {props.onSelection}
          {actions}
        </SpaceBetween>
      }
    >
      {title}
    </Header>
  );
}

interface ShownProps<Item> extends Pick<TableProps<Item>, "title" | "columns"> {
  nameOf: (item: Item) => string;
  compact: boolean;
  shared: { items: Item[]; loading: boolean; loadingText: string; trackBy: string; empty: ReactNode; header: ReactNode };
}

interface CellProps<Item> {
  of: Column<Item>["cell"];
  item: Item;
}

/** Renders again only for another record, not for another selection: what is in 100 rows takes longer than a click may. */
const Cell = <Item,>({ of, item }: CellProps<Item>): ReactNode => useMemo(() => of(item), [of, item]);

function CardsOrTable<Item extends { id: string }>({ title, nameOf, columns, compact, shared }: ShownProps<Item>) {
  const [first, ...others] = columns;
  const narrow = useNarrow();
  const columnDefinitions = useMemo(() => columns.map(definitionOf), [columns]);
  if (narrow)
    return (
      <Cards
        {...shared}
        ariaLabels={selectionLabels(title, nameOf)}
        cardDefinition={{
          header: (item: Item) => <Cell of={first.cell} item={item} />,
          sections: others.map(({ id, header, cell, long = false }, index) => ({
            id,
            header,
            content: (item: Item) => <Cell of={cell} item={item} />,
            width: index === 0 || long ? 100 : 50, // the first would be higher than one beside it
          })),
        }}
      />
    );
  return (
    <Table
      {...shared}
      contentDensity={compact ? "compact" : "comfortable"}
      // However narrow the window is, what a row is and its actions are in view.
      stickyColumns={{ first: 1, last: isActions(columns.at(-1)) ? 1 : 0 }}
      ariaLabels={{ tableLabel: title, ...selectionLabels(title, nameOf) }}
      columnDefinitions={columnDefinitions}
    />
  );
}

const definitionOf = <Item,>({ id, header, cell, width, quiet = false }: Column<Item>, index: number) => ({
  id,
  header: quiet ? <span className="unseen">{header}</span> : header,
  cell: (item: Item) => <Cell of={cell} item={item} />,
  isRowHeader: index === 0,
  ...(width !== undefined && { width }),
});

const isActions = <Item,>(column: Column<Item> | undefined): boolean =>
  column !== undefined && ["action", "menu"].includes(column.id);

const ownName = (item: { id: string }): string => ("name" in item ? String(item.name) : item.id);

const selectionLabels = <Item,>(title: string, nameOf: (item: Item) => string) => ({
  selectionGroupLabel: text.resource.list.select(title),
  allItemsSelectionLabel: () => text.resource.list.selectPage(title),
  itemSelectionLabel: (_: unknown, item: Item) => text.resource.list.selectOne(nameOf(item)),
});

interface NothingProps {
  empty: ReactNode;
  filtered: boolean;
  /** On a later page than the first. */
  past: boolean;
  onClear: () => void;
}

function Nothing({ empty, filtered, past, onClear }: NothingProps) {
  const say = text.resource.list;
  return (
    <Box textAlign="center" padding={{ vertical: "m" }}>
      {filtered || past ? (
        <SpaceBetween size="s">
          <span>{filtered ? say.noMatches : say.nothingHere}</span>
          <Button onClick={onClear}>{filtered ? say.clearFilter : say.firstPage}</Button>
        </SpaceBetween>
      ) : (
        empty
      )}
    </Box>
  );
}
