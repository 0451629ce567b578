// The server of an instance by its name: all servers are asked for once, however many instances are shown.
import { useQuery } from "@tanstack/react-query";
import { Link } from "../app/link.tsx";
import { servers } from "../app/queries.ts";

/** An account has ten unless its operator allows more; those beyond a page are shown by their id. */
const ALL = 100;

export function ServerLink({ id }: { id: string }) {
  const { data } = useQuery(servers.list({ per_page: ALL }));
  const server = data?.data.find((each) => each.id === id);
  return <Link to={`/servers/${id}`}>{server?.name ?? id}</Link>;
}
