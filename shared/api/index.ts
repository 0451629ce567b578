// Every endpoint of the service, by resource. There is no other route table.
import { auth } from "./auth.ts";
import { backupPolicy } from "./backup-policy.ts";
import { BASE_PATH } from "./base-path.ts";
import { backups } from "./backups.ts";
import { catalog } from "./catalog.ts";
import type { Endpoint } from "./endpoint.ts";
import { instances } from "./instances.ts";
import { operations } from "./operations.ts";
import { overview, search } from "./overview.ts";
import { servers } from "./servers.ts";
import { health, openapi, sandbox } from "./service.ts";
import { events, settings } from "./settings.ts";
import { sshKeys } from "./ssh-keys.ts";
import { tokens } from "./tokens.ts";
import { uploads } from "./uploads.ts";

export const api = {
  servers,
  instances,
  backupPolicy,
  backups,
  uploads,
  operations,
  overview,
  search,
  sshKeys,
  catalog,
  settings,
  events,
  tokens,
  auth,
  health,
  openapi,
  sandbox,
};
export type Api = typeof api;

export { BASE_PATH };

/** An endpoint's path in the gateway's syntax: `/api/v1/servers/{id}`. */
export const resourceOf = (path: string): string => `${BASE_PATH}${path.replace(/:(\w+)/g, "{$1}")}`;

/** An endpoint with what follows from its position in the table: `instances.clone` is `functions/instances/clone.ts`. */
export interface Route extends Endpoint {
  id: string;
  resource: string;
  name: string;
  entry: string;
}

/** The same endpoints as a list. */
export const routes: readonly Route[] = Object.entries(api).flatMap(([resource, endpoints]) =>
  Object.entries<Endpoint>(endpoints).map(([name, endpoint]) => ({
    ...endpoint,
    id: `${resource}.${name}`,
    resource,
    name,
    entry: `functions/${kebab(resource)}/${kebab(name)}.ts`,
  })),
);

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
