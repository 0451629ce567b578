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
  // An event says that its deletion was requested, which may be older than all of them; only its record shows whether it is gone.
  const mayBeGone = about.length === 0 || about[0]?.type === `${type}.delete`;
  if (useIsGone(mayBeGone ? { type, id } : undefined)) return text.home.deleted;
  const name = about.find(({ resource }) => resource.name !== null)?.resource.name ?? id;
  const page = pageOf({ type, id });
  return page === undefined ? name : <Link to={page}>{name}</Link>;
}
