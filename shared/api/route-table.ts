// What the authorizer and 405 responses need to know about every endpoint, as plain data. The bundler replaces this module with
// the computed table, so that a function does not build the schemas of all endpoints just to list their methods.
import type { Endpoint } from "./endpoint.ts";
import { toGatewayResource, routes } from "./index.ts";

interface RouteRow extends Pick<Endpoint, "method" | "only" | "rate" | "waits" | "dryRun"> {
  /** The path in the gateway's syntax: `/api/v1/servers/{id}`. */
  resource: string;
}

export const routeTable: readonly RouteRow[] = routes.map(({ method, path, only, rate, waits, dryRun }) => ({
  method,
  resource: toGatewayResource(path),
  only,
  rate,
  waits,
  dryRun,
}));
