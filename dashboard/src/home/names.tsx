// The name of an operation's resource, with a link to it: as the account's latest events name it, in one request for all.
import { useQuery } from "@tanstack/react-query";
import type { Operation } from "../../../shared/api/operations.ts";
import type { Event } from "../../../shared/api/settings.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import { Link } from "../app/link.tsx";
import { events } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { pageOf, useIsGone } from "../operations/pages.ts";

export function Name({ of: { type, id } }: { of: Operation["resource"] }) {
  const { data, isError } = useQuery(events.list({ per_page: PER_PAGE_MAX }));
  if (data === undefined && !isError) return "…";
  const about = data?.data.filter(({ resource }) => resource.id === id) ?? [];
  return <NameFrom of={{ type, id }} about={about} />;
}

function NameFrom({ of: { type, id }, about }: { of: Operation["resource"]; about: readonly Event[] }) {
  // Its deletion may be older than all of them.
  const gone = useIsGone(about.length === 0 ? { type, id } : undefined);
  // A deletion that failed is followed by nothing: the list of failures then shows it as well.
  if (gone || about[0]?.type === `${type}.delete`) return text.home.deleted;
  const name = about.find(({ resource }) => resource.name !== null)?.resource.name ?? id;
  const page = pageOf({ type, id });
  return page === undefined ? name : <Link to={page}>{name}</Link>;
}
