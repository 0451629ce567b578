// Every endpoint of the service, by resource. There is no other route table.
import * as alertSettings from "./alert-settings.ts";
import * as alerts from "./alerts.ts";
import * as auth from "./auth.ts";
import * as backupPolicy from "./backup-policy.ts";
import * as backups from "./backups.ts";
import * as bulk from "./bulk.ts";
import * as catalog from "./catalog.ts";
import * as code from "./code.ts";
import * as deploys from "./deploys.ts";
import * as events from "./events.ts";
import * as health from "./health.ts";
import * as instanceLogs from "./instance-logs.ts";
import * as instances from "./instances.ts";
import * as invitations from "./invitations.ts";
import * as openapi from "./openapi.ts";
import * as operations from "./operations.ts";
import * as overview from "./overview.ts";
import * as sandbox from "./sandbox.ts";
import * as search from "./search.ts";
import * as secondFactors from "./second-factors.ts";
import * as servers from "./servers.ts";
import * as settings from "./settings.ts";
import * as sshKeys from "./ssh-keys.ts";
import * as sso from "./sso.ts";
import * as tokens from "./tokens.ts";
import * as uploads from "./uploads.ts";
import * as users from "./users.ts";
import * as webhooks from "./webhooks.ts";
import { BASE_PATH } from "./base-path.ts";
import type { Endpoint } from "./endpoint.ts";

export const api = {
  servers: listEndpoints(servers),
  instances: listEndpoints({ ...instances, ...instanceLogs }),
  backupPolicy: listEndpoints(backupPolicy),
  code: listEndpoints(code),
  deploys: listEndpoints(deploys),
  backups: listEndpoints(backups),
  uploads: listEndpoints(uploads),
  operations: listEndpoints(operations),
  bulk: listEndpoints(bulk),
  overview: listEndpoints(overview),
  search: listEndpoints(search),
  sshKeys: listEndpoints(sshKeys),
  catalog: listEndpoints(catalog),
  settings: listEndpoints(settings),
  sso: listEndpoints(sso),
  alertSettings: listEndpoints(alertSettings),
  alerts: listEndpoints(alerts),
  events: listEndpoints(events),
  webhooks: listEndpoints(webhooks),
  tokens: listEndpoints(tokens),
  users: listEndpoints(users),
  invitations: listEndpoints(invitations),
  auth: listEndpoints(auth),
  secondFactors: listEndpoints(secondFactors),
  health: listEndpoints(health),
  openapi: listEndpoints(openapi),
  sandbox: listEndpoints(sandbox),
};
export type Api = typeof api;

/** The endpoints that a module exports. Each is a function that makes it, so that no Lambda function contains another's. */
function listEndpoints<Module extends object>(module: Module) {
  type Endpoints = { [Name in keyof Module as Module[Name] extends MakesEndpoint ? Name : never]: Made<Module[Name]> };
  const endpoints = Object.entries(module)
    .flatMap(([name, value]): [string, Endpoint][] => (typeof value === "function" ? [[name, value()]] : []))
    .toSorted(([, one], [, other]) => sortKey(one).localeCompare(sortKey(other), "en"));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `Object.fromEntries` forgets which
  return Object.fromEntries(endpoints) as Endpoints;
}

/** What the list of endpoints is sorted by: a module's exports have no order of their own. */
function sortKey({ path, method }: Endpoint): string {
  return `${path} ${["GET", "POST", "PUT", "DELETE"].indexOf(method)}`;
}

type MakesEndpoint = () => Endpoint;
type Made<Make> = Make extends () => infer E ? E : never;

/** An endpoint's path in the gateway's syntax: `/api/v1/servers/{id}`. */
export const toGatewayResource = (path: string): string => `${BASE_PATH}${path.replace(/:(\w+)/g, "{$1}")}`;

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
