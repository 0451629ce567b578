// The name of a resource, with a link to it: as the account's latest events name it, in one request for all, or else as its record does.
import { useQuery } from "@tanstack/react-query";
import type { Event } from "../../../shared/api/settings.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import { Link } from "../app/link.tsx";
import { events } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { pageOf, type Resource, useFound } from "../operations/pages.ts";

export function Name({ of: { type, id } }: { of: Resource }) {
  const { data, isError } = useQuery(events.list({ per_page: PER_PAGE_MAX }));
  if (data === undefined && !isError) return "…";
  const about = data?.data.filter(({ resource }) => resource.id === id) ?? [];
  return <NameFrom of={{ type, id }} about={about} />;
}

function NameFrom({ of: { type, id }, about }: { of: Resource; about: readonly Event[] }) {
  const named = about.find(({ resource }) => resource.name !== null)?.resource.name;
  // An event says that its deletion was requested, which may be older than all of them; only its record shows whether it is gone.
  const mayBeGone = named === undefined || about[0]?.type === `${type}.delete`;
  const found = useFound(mayBeGone ? { type, id } : undefined);
  if (found.isGone === true) return text.home.deleted;
  if (named === undefined && found.isGone === undefined) return "…";
  const name = named ?? found.name ?? id;
  const page = pageOf({ type, id });
  return page === undefined ? name : <Link to={page}>{name}</Link>;
}
