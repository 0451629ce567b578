// The name of an operation's resource, with a link to it.
import type { Backup } from "../../../shared/api/backups.ts";
import type { Instance } from "../../../shared/api/instances.ts";
import type { Operation } from "../../../shared/api/operations.ts";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { Link } from "../app/link.tsx";
import type { Tally } from "./use-tally.ts";

/** What the page has already fetched. */
export interface Known {
  servers: Tally<ListedServer> | undefined;
  instances: Tally<Instance> | undefined;
  backups: Tally<Backup> | undefined;
}

export function Name({ of: { type, id }, known }: { of: Operation["resource"]; known: Known }) {
  const place = placeOf(type, id, known);
  return place.href === undefined ? place.name : <Link to={place.href}>{place.name}</Link>;
}

interface Place {
  name: string;
  href?: string;
}

function placeOf(type: Operation["resource"]["type"], id: string, { servers, instances, backups }: Known): Place {
  switch (type) {
    case "server":
      return placed(servers, id, `/servers/${id}`, ({ name }) => name);
    case "instance":
      return placed(instances, id, `/instances/${id}`, ({ name }) => name);
    case "backup":
      return placed(backups, id, `/backups?backup=${id}`, ({ instance_name }) => instance_name);
    default:
      return { name: id };
  }
}

/** What is missing from a complete list was deleted; what is only missing from the newest may exist. */
function placed<Item extends { id: string }>(
  tally: Tally<Item> | undefined,
  id: string,
  href: string,
  nameOf: (item: Item) => string,
): Place {
  const found = tally?.items.find((item) => item.id === id);
  if (found !== undefined) return { name: nameOf(found), href };
  return tally?.whole === true ? { name: "deleted" } : { name: id, href };
}
