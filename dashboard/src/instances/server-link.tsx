// The server of an instance by its name: the page fetches all servers once, however many instances it shows.
import { useQuery } from "@tanstack/react-query";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import { Link } from "../app/link.tsx";
import { servers } from "../app/queries.ts";
import { queryClient } from "../app/query-client.ts";

/** An account has ten unless its operator allows more; those beyond one page appear by ID. */
const ALL = PER_PAGE_MAX;

/** For a file, from what the page has fetched. */
export const serverNameOf = (id: string): string =>
  queryClient
    .getQueryData<{ data: ListedServer[] }>(servers.list({ per_page: ALL }).queryKey)
    ?.data.find((each) => each.id === id)?.name ?? id;

export function ServerLink({ id }: { id: string }) {
  const { data } = useQuery(servers.list({ per_page: ALL }));
  const server = data?.data.find((each) => each.id === id);
  return <Link to={`/servers/${id}`}>{server?.name ?? id}</Link>;
}
