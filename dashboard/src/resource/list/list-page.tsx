// A page with one list: its heading is the page's, and the create button is above it and, if the list is empty, below the text.
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { ReactNode } from "react";
import { useFollow } from "../../app/follow.ts";
import { May, needsOf } from "../../app/may.tsx";
import { Page } from "../../app/page.tsx";
import { text } from "../../messages/text.ts";
import { ListFilters } from "./list-filters.tsx";
import { ResourceTable, type TableProps } from "./table.tsx";
import type { Column } from "./column.ts";

interface Props<Item> extends Pick<
  TableProps<Item>,
  "title" | "description" | "list" | "filters" | "narrowing" | "searchable" | "columns" | "perPage" | "bulk"
> {
  empty: string;
  /** The button that adds a resource. */
  add?: ReactNode;
  /** The actions beside the heading only. */
  actions?: ReactNode;
  /** The dialogs of the page. */
  children?: ReactNode;
}

export function ListPage<Item extends { id: string }>({ empty, add, actions = add, children, ...list }: Props<Item>) {
  return (
    <Page title={list.title} headless>
      <ResourceTable
        main
        Filters={ListFilters}
        {...list}
        actions={actions}
        empty={
          <SpaceBetween size="s">
            <span>{empty}</span>
            {add}
          </SpaceBetween>
        }
      />
      {children}
    </Page>
  );
}

/** Opens the page with the form of a new resource, for those who may create one. */
export function CreateLink({ to, children }: { to: string; children: string }) {
  return (
    <May needs={needsOf(to)}>
      <Button variant="primary" href={to} onFollow={useFollow()}>
        {children}
      </Button>
    </May>
  );
}

/** The column with the menu of each record, which opens on the button. */
export const menuColumn = <Item,>(cell: Column<Item>["cell"]): Column<Item> => ({
  id: "menu",
  header: text.resource.list.actions,
  width: 48,
  quiet: true,
  cell,
});
