// What the authorizer and 405 responses need to know of every endpoint, as plain data. The bundler puts the computed table in this module's
// place, so that a function does not build the schemas of all endpoints to learn their methods.
import type { Endpoint } from "./endpoint.ts";
import { resourceOf, routes } from "./index.ts";

export interface RouteRow extends Pick<Endpoint, "method" | "only" | "rate" | "waits"> {
  /** The path as the gateway spells it: `/api/v1/servers/{id}`. */
  resource: string;
}

export const routeTable: readonly RouteRow[] = routes.map(({ method, path, only, rate, waits }) => ({
  method,
  resource: resourceOf(path),
  only,
  rate,
  waits,
}));
