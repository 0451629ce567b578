// Downloads everything that a list's filter lets through, with the columns that it shows.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Failure } from "../../app/failure.tsx";
import type { ListQuery } from "../../app/queries.ts";
import { text } from "../../messages/text.ts";
import { type List, useAllPages } from "./all-pages.ts";
import { toCsv, saveFile } from "./csv.ts";
import type { Column } from "./column.ts";
import { formatCount } from "../words/number.ts";

interface Props<Item> {
  /** The list's title: "Instances". */
  title: string;
  list: List<Item>;
  query: ListQuery;
  columns: readonly Column<Item>[];
}

export function ExportButton<Item>({ title, list, query, columns }: Props<Item>) {
  const { pending, error, loadedCount, fetchAll } = useAllPages(list, query, (items) =>
    saveFile(`${title.toLowerCase().replaceAll(" ", "-")}-${new Date().toISOString().slice(0, 10)}.csv`, toCsv(columns, items)),
  );
  return (
    <SpaceBetween size="xs">
      {error !== null && <Failure error={error} retry={fetchAll} />}
      <SpaceBetween direction="horizontal" size="xs" alignItems="center">
        {loadedCount > 0 && <Loading count={loadedCount} />}
        <Button
          variant="icon"
          iconName="download"
          ariaLabel={text.resource.list.download(title)}
          loading={pending}
          onClick={fetchAll}
        />
      </SpaceBetween>
    </SpaceBetween>
  );
}

/** How far a long list is. Nothing for one page, which is there at once. */
export const Loading = ({ count }: { count: number }) => (
  <Box variant="small" color="text-body-secondary">
    <span role="status">{text.resource.list.loadedSoFar(formatCount(count))}</span>
  </Box>
);
