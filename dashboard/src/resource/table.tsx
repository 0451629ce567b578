// A list of resources: filtered by status, paged by the API, as a table or, on a phone, as cards.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Cards from "@cloudscape-design/components/cards";
import Header from "@cloudscape-design/components/header";
import Pagination from "@cloudscape-design/components/pagination";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { ListMeta } from "../../../shared/api/fields.ts";
import { Failure } from "../app/failure.tsx";
import type { ListQuery, Question } from "../app/queries.ts";
import { useNarrow } from "./narrow.ts";
import { type Filters, knownFilter, StatusFilter } from "./status-filter.tsx";
import { useFocusNext } from "./use-focus-next.ts";
import { usePlace } from "./use-place.ts";

export interface Column<Item> {
  id: string;
  header: string;
  cell: (item: Item) => ReactNode;
  width?: number;
  /** Too long for half a card on a phone. */
  long?: boolean;
}

export interface TableProps<Item> {
  title: string;
  /** One of `app/queries.ts`. */
  list: (query: ListQuery) => Question<{ data: Item[]; meta: ListMeta }>;
  /** A fixed filter: the instances of one server. The list then takes no status, because the API takes one filter. */
  only?: ListQuery;
  /** Adds a filter by these fields. */
  filters?: Filters;
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
}

export function ResourceTable<Item extends { id: string }>(props: TableProps<Item>) {
  const { title, list, only = {}, filters, columns, empty, prefix = "", perPage = 20 } = props;
  const [{ page, filter: linked }, go] = usePlace(prefix);
  const filter = filters && knownFilter(filters, linked);
  const asked = filter === undefined ? {} : { [filter.name]: filter.value };
  const query = useQuery({ ...list({ page, per_page: perPage, ...asked, ...only }), placeholderData: keepPreviousData });
  const { data: items = [], meta } = query.data ?? {};
  const box = useFocusNext(query.data);
  const pages = Math.max(1, Math.ceil((meta?.total ?? 0) / perPage));

  const failure = query.isError && <Failure error={query.error} retry={() => void query.refetch()} />;
  const shared = {
    items,
    loading: query.isPending,
    loadingText: "Loading",
    trackBy: "id",
    empty: failure || (
      <Nothing empty={empty} filtered={filter !== undefined} past={page > 1} onClear={() => go({ page: 1, filter: undefined })} />
    ),
    header: (
      <SpaceBetween size="s">
        {items.length > 0 && failure}
        <ListHeader {...props} total={meta?.total} refreshing={query.isRefetching} onRefresh={() => void query.refetch()} />
      </SpaceBetween>
    ),
    ...(filters !== undefined && {
      filter: <StatusFilter of={filters} filter={filter} onChange={(next) => go({ page: 1, filter: next })} />,
    }),
    ...(pages > 1 && {
      pagination: (
        <Pagination
          currentPageIndex={page}
          pagesCount={pages}
          onChange={({ detail }) => go({ page: detail.currentPageIndex, filter: linked })}
        />
      ),
    }),
  };
  return (
    <div ref={box}>
      <CardsOrTable title={title} columns={columns} shared={shared} />
    </div>
  );
}

interface HeaderProps extends Pick<TableProps<never>, "title" | "main" | "description" | "actions"> {
  total: number | undefined;
  refreshing: boolean;
  onRefresh: () => void;
}

function ListHeader({ title, main = false, description, actions, total, refreshing, onRefresh }: HeaderProps) {
  return (
    <Header
      variant={main ? "h1" : "h2"}
      {...(total !== undefined && { counter: `(${total})` })}
      description={description}
      actions={
        <SpaceBetween direction="horizontal" size="xs">
          <Button iconName="refresh" ariaLabel={`Refresh ${title.toLowerCase()}`} loading={refreshing} onClick={onRefresh} />
          {actions}
        </SpaceBetween>
      }
    >
      {title}
    </Header>
  );
}

interface ShownProps<Item> extends Pick<TableProps<Item>, "title" | "columns"> {
  shared: { items: Item[]; loading: boolean; loadingText: string; trackBy: string; empty: ReactNode; header: ReactNode };
}

function CardsOrTable<Item>({ title, columns, shared }: ShownProps<Item>) {
  const [first, ...others] = columns;
  if (useNarrow())
    return (
      <Cards
        {...shared}
        ariaLabels={{ itemSelectionLabel: () => "", selectionGroupLabel: title }}
        cardDefinition={{
          header: first.cell,
          sections: others.map(({ id, header, cell, long = false }, index) => ({
            id,
            header,
            content: cell,
            width: index === 0 || long ? 100 : 50, // the first would be higher than one beside it
          })),
        }}
      />
    );
  return (
    <Table
      {...shared}
      ariaLabels={{ tableLabel: title }}
      columnDefinitions={columns.map(({ id, header, cell, width }) => ({
        id,
        header,
        cell,
        isRowHeader: id === first.id,
        ...(width !== undefined && { width }),
      }))}
    />
  );
}

interface NothingProps {
  empty: ReactNode;
  filtered: boolean;
  /** On a later page than the first. */
  past: boolean;
  onClear: () => void;
}

function Nothing({ empty, filtered, past, onClear }: NothingProps) {
  return (
    <Box textAlign="center" padding={{ vertical: "m" }}>
      {filtered || past ? (
        <SpaceBetween size="s">
          <span>{filtered ? "No matches for this filter." : "There's nothing on this page."}</span>
          <Button onClick={onClear}>{filtered ? "Clear filter" : "Go to page 1"}</Button>
        </SpaceBetween>
      ) : (
        empty
      )}
    </Box>
  );
}
