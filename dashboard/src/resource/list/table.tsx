// A list of resources: searched, filtered, sorted and paged by the API, as a table or, on a phone, as cards.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ComponentProps, type ComponentType, type ReactNode, useMemo, useState } from "react";
import type { ListMeta } from "../../../../shared/api/fields.ts";
import { Failure } from "../../app/failure.tsx";
import { lazily } from "../../app/lazily.tsx";
import { useNarrow } from "../../app/narrow.ts";
import type { ListQuery, Question } from "../../app/queries.ts";
import { text } from "../../messages/text.ts";
import { Cell } from "./cell.tsx";
import type { Column } from "./column.ts";
import { useAllPages } from "./all-pages.ts";
import { ExportButton } from "./export-button.tsx";
import { buildQuery, canNarrow, type Filters as FilterKinds, type FiltersProps, type Narrowing } from "./list-query.ts";
import { SelectionBar } from "./selection-bar.tsx";
import { Updated } from "./updated.tsx";
import { useFocusNext } from "./use-focus-next.ts";
import { type ListState, useListState } from "./use-list-state.ts";
import { formatCount } from "../words/number.ts";
import { Paging } from "./paging.tsx";
import { PhoneList } from "./phone-list.tsx";
import { usePreferences } from "./use-preferences.ts";
import { SELECTED_MAX, type SelectedProps, selectionKey, useSelection } from "./use-selection.ts";

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
  bulk?: ComponentType<SelectedProps<Item>>;
  /** What a record is called that has no name. */
  nameOf?: (item: Item) => string;
}

/** What a list shows: where the user is in it, how they want to see it, and what the API returned for that. */
function useTableList<Item extends { id: string }>(props: TableProps<Item>) {
  const { list, only = {}, prefix = "" } = props;
  const [preferences, setPreferences] = usePreferences(prefix);
  const [here, goTo] = useListState(prefix);
  const listState = { ...here, sort: here.sort ?? preferences.sort };
  const go = (next: ListState): void => {
    if ((next.sort ?? "") !== (listState.sort ?? "")) setPreferences({ ...preferences, sort: next.sort });
    goTo(next);
  };
  const { perPage = props.perPage ?? PER_PAGE } = preferences;
  const { query: listQuery, filtered } = buildQuery(props, listState);
  const all = { ...listQuery, ...only };
  const query = useQuery({ ...list({ page: listState.page, per_page: perPage, ...all }), placeholderData: keepPreviousData });
  const columns = useMemo((): typeof props.columns => {
    const [first, ...otherColumns] = props.columns;
    return [first, ...otherColumns.filter(({ id, hidden = false }) => preferences.columns?.[id] ?? !hidden)];
  }, [props.columns, preferences.columns]);
  return { listState, go, preferences, setPreferences, perPage, filtered, listQuery: all, query, columns };
}

type Listed<Item extends { id: string }> = ReturnType<typeof useTableList<Item>>;

/** The selected records of a list, and what can be done with them. */
function useChosen<Item extends { id: string }>(
  { list, only = {}, bulk: Bulk }: TableProps<Item>,
  { listState, listQuery, query }: Listed<Item>,
) {
  const { data = [], meta } = query.data ?? {};
  const { selected, selectShown, select, isCurrent } = useSelection(data, selectionKey(listState, only));
  const everything = useAllPages(list, listQuery, select, SELECTED_MAX);
  /** What the user selects counts, and not what arrives after it. */
  const selectNow = (choose: () => void): void => {
    everything.cancel();
    choose();
  };
  return {
    count: selected.length,
    error: selected.length > 0 && everything.error !== null && <Failure key="selection" error={everything.error} />,
    bar: <SelectionBar {...{ selected, total: meta?.total ?? 0, everything }} onClear={() => selectNow(() => select([]))} />,
    menu: Bulk !== undefined && (
      <Bulk selected={everything.pending ? [] : selected} isCurrent={isCurrent} onDone={() => select([])} />
    ),
    selection:
      Bulk === undefined
        ? undefined
        : {
            selected,
            // The rows of an earlier filter, shown until the right ones arrive, are not for selecting.
            disabled: query.isPlaceholderData,
            onSelect: (items: readonly Item[]) => selectNow(() => selectShown(items)),
          },
  };
}

export function ResourceTable<Item extends { id: string }>(props: TableProps<Item>) {
  const { title, main = false, Filters, empty, nameOf = ownName } = props;
  const listed = useTableList(props);
  const { listState, go, perPage, filtered, query, columns } = listed;
  const { data: items = [], meta } = query.data ?? {};
  const box = useFocusNext(query.data);
  const chosen = useChosen(props, listed);
  const narrow = useNarrow();
  const pages = Math.max(1, Math.ceil((meta?.total ?? 0) / perPage));
  const failure = query.isError && <Failure key="list" error={query.error} retry={() => void query.refetch()} />;
  const tools = <Tools of={props} listed={listed} />;
  // Beside the heading of a phone's list there is room for one button; its other filters have some for the tools.
  const folded = narrow && Filters !== undefined && canNarrow(props);
  const clear = (): void => go({ page: 1, sort: listState.sort });
  const shared = {
    title,
    main,
    counter: counterOf(meta, chosen.count),
    items,
    columns,
    nameOf,
    loading: query.isPending,
    empty: failure || <Nothing empty={empty} filtered={filtered} past={listState.page > 1} onClear={clear} />,
    // An array, because a fragment would leave an empty row.
    notices: [items.length > 0 && failure, chosen.error],
    filter: Filters !== undefined && <Filters {...props} listState={listState} go={go} tools={folded && tools} />,
  };
  return (
    <div ref={box} className="list">
      {narrow ? (
        <OnPhone of={props} shared={shared} chosen={chosen} tools={folded ? null : tools} />
      ) : (
        <OnDesktop of={props} shared={shared} chosen={chosen} tools={tools} compact={listed.preferences.compact ?? false} />
      )}
      {/* Below the rows, so that nothing moves when the number of pages is known. */}
      {pages > 1 && (
        <div className="pages">
          <Paging page={listState.page} pages={pages} onPage={(page) => go({ ...listState, page })} />
        </div>
      )}
    </div>
  );
}

/** "(12)", or "(3/12)" of which three are selected; nothing until the list is there. */
function counterOf(meta: ListMeta | undefined, selected: number): string {
  if (meta === undefined) return "";
  const all = `${formatCount(meta.total)}${meta.total_capped ? "+" : ""}`;
  return selected > 0 ? `(${formatCount(selected)}/${all})` : `(${all})`;
}

interface Shown<Item extends { id: string }> {
  of: TableProps<Item>;
  shared: Omit<ComponentProps<typeof PhoneList<Item>>, "actions" | "selection">;
  chosen: ReturnType<typeof useChosen<Item>>;
  tools: ReactNode;
}

function OnPhone<Item extends { id: string }>({ of: { actions }, shared, chosen, tools }: Shown<Item>) {
  const bar = (
    <>
      {chosen.bar}
      {chosen.menu}
    </>
  );
  return (
    <PhoneList
      {...shared}
      actions={
        <>
          {tools}
          {actions}
        </>
      }
      selection={chosen.selection && { ...chosen.selection, bar }}
    />
  );
}

function OnDesktop<Item extends { id: string }>({ of, shared, chosen, tools, compact }: Shown<Item> & { compact: boolean }) {
  const { title, columns, main, counter, notices, filter, nameOf, items, loading, empty } = shared;
  const { selection } = chosen;
  const columnDefinitions = useMemo(() => columns.map(definitionOf), [columns]);
  return (
    <Table
      items={items}
      trackBy="id"
      loading={loading}
      loadingText={text.resource.list.loading}
      empty={empty}
      header={
        <SpaceBetween size="s">
          {notices}
          <Header
            variant={main ? "h1" : "h2"}
            {...(counter !== "" && { counter })}
            description={chosen.count > 0 ? chosen.bar : of.description}
            actions={
              <SpaceBetween direction="horizontal" size="xs" alignItems="center">
                {tools}
                {chosen.menu}
                {of.actions}
              </SpaceBetween>
            }
          >
            {title}
          </Header>
        </SpaceBetween>
      }
      {...(of.Filters !== undefined && { filter })}
      {...(selection !== undefined && {
        selectionType: "multi" as const,
        selectedItems: selection.selected,
        isItemDisabled: () => selection.disabled,
        onSelectionChange: ({ detail }: { detail: { selectedItems: Item[] } }) => selection.onSelect(detail.selectedItems),
      })}
      contentDensity={compact ? "compact" : "comfortable"}
      // However narrow the window is, what a row is and its actions are in view.
      stickyColumns={{ first: 1, last: isActions(columns.at(-1)) ? 1 : 0 }}
      ariaLabels={{ tableLabel: title, ...selectionLabels(title, nameOf) }}
      columnDefinitions={columnDefinitions}
    />
  );
}

interface ToolsProps<Item extends { id: string }> {
  of: TableProps<Item>;
  listed: Listed<Item>;
}

/** How old a list is, its file, and how the user wants to see it. */
function Tools<Item extends { id: string }>({ of, listed }: ToolsProps<Item>) {
  const { title, list, columns: all, perPage } = of;
  const total = listed.query.data?.meta.total ?? 0;
  const { listQuery, query, columns, preferences, setPreferences } = listed;
  const [open, setOpen] = useState(false);
  return (
    <SpaceBetween direction="horizontal" size="xs" alignItems="center">
      <Updated at={query.dataUpdatedAt} />
      <Button
        variant="icon"
        iconName="refresh"
        ariaLabel={text.resource.list.refresh(title)}
        loading={query.isRefetching}
        onClick={() => void query.refetch()}
      />
      {total > 0 && all.some((column) => column.text !== undefined) && (
        <ExportButton title={title} list={list} query={listQuery} columns={columns} />
      )}
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
          columns={all.slice(1).map(({ id, header, hidden = false }) => ({ id, header, isVisible: !hidden }))}
          preferences={preferences}
          onSave={(next) => {
            setPreferences(next);
            setOpen(false);
            if (next.perPage !== preferences.perPage) listed.go({ ...listed.listState, page: 1 });
          }}
          onDismiss={() => setOpen(false)}
        />
      )}
    </SpaceBetween>
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
  /** Whether the page is later than the first. */
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
