// The pages of a list: all that fit beside each other, or on a phone the previous and the next.
import Button from "@cloudscape-design/components/button";
import Pagination from "@cloudscape-design/components/pagination";
import { text } from "../../messages/text.ts";
import { useNarrow } from "../../app/narrow.ts";
import { formatCount } from "../words/number.ts";

interface Props {
  page: number;
  pages: number;
  onPage: (page: number) => void;
}

export function Paging({ page, pages, onPage }: Props) {
  const say = text.resource.paging;
  if (!useNarrow())
    return <Pagination currentPageIndex={page} pagesCount={pages} onChange={({ detail }) => onPage(detail.currentPageIndex)} />;
  return (
    <nav className="paging" aria-label={say.label}>
      <Button
        iconName="angle-left"
        variant="icon"
        ariaLabel={say.previous}
        disabled={page <= 1}
        onClick={() => onPage(page - 1)}
      />
      <span>{say.page(formatCount(page), formatCount(pages))}</span>
      <Button
        iconName="angle-right"
        variant="icon"
        ariaLabel={say.next}
        disabled={page >= pages}
        onClick={() => onPage(page + 1)}
      />
    </nav>
  );
}
