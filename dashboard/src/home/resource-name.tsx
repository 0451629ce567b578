// The name that a resource had when an operation on it started, with a link to its page, which says so if it was deleted since.
import { Link } from "../app/link.tsx";
import { type NamedResource, pageOf } from "../operations/pages.ts";

export function ResourceName({ of: resource }: { of: NamedResource }) {
  const page = pageOf(resource);
  const name = resource.name ?? resource.id;
  return page === undefined ? name : <Link to={page}>{name}</Link>;
}
