// The page and filter of a list, in the URL, for links and the Back button.
import { useSearchParams } from "react-router";

interface Place {
  page: number;
  status: string | undefined;
}

/** `prefix` distinguishes the lists of one page. */
export function usePlace(prefix: string): [Place, (next: Place) => void] {
  const [search, setSearch] = useSearchParams();
  const name = (what: string) => (prefix === "" ? what : `${prefix}-${what}`);
  const page = Number(search.get(name("page")) ?? 1);
  const place = { page: Number.isInteger(page) && page >= 1 ? page : 1, status: search.get(name("status")) ?? undefined };
  const go = (next: Place): void =>
    setSearch((before) => {
      const after = new URLSearchParams(before);
      after.delete(name("page"));
      after.delete(name("status"));
      if (next.status !== undefined) after.set(name("status"), next.status);
      if (next.page > 1) after.set(name("page"), String(next.page));
      return after;
    });
  return [place, go];
}
