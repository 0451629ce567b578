// Which methods a path has. On a path with a GET every method that it lacks leads to that GET's function, so that HEAD needs no
// resource of its own; on the others, and where there is no path, to the fallback.
import { routeTable } from "../api/route-table.ts";
import { env } from "../platform/env.ts";

const withHead = (method: string): string[] => (method === "GET" ? ["GET", "HEAD"] : [method]);

/** The methods of a path, as `Allow` names them; empty if there is no such path. */
export const allowedAt = (resource: string): string =>
  routeTable
    .filter((route) => route.resource === resource && (route.only ?? env().ENVIRONMENT) === env().ENVIRONMENT)
    .flatMap(({ method }) => withHead(method))
    .join(", ");
