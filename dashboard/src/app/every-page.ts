// All pages of a list, one after the other.
import type { ListMeta } from "../../../shared/api/fields.ts";

interface Page<Item> {
  data: Item[];
  meta: Pick<ListMeta, "next_cursor">;
}

/** Fetches pages as long as what was found so far is not enough. */
export async function everyPage<Item>(
  fetch: (cursor: { cursor?: string }) => Promise<Page<Item>>,
  isEnough: (items: readonly Item[]) => boolean = () => false,
): Promise<{ items: Item[]; isWhole: boolean }> {
  const items: Item[] = [];
  for (let cursor: string | undefined; ;) {
    const { data, meta } = await fetch(cursor === undefined ? {} : { cursor });
    items.push(...data);
    const isWhole = meta.next_cursor === null;
    if (isWhole || isEnough(items)) return { items, isWhole };
    cursor = meta.next_cursor ?? undefined;
  }
}
