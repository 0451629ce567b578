// Every page of the dashboard, each in its own chunk.
import { type ComponentType, lazy } from "react";
import { withAreas } from "../app/with-areas.ts";
import type { Area } from "../messages/text.ts";

interface Route {
  path: string;
  Page: ComponentType;
}

/** Makes a route with the areas of the catalog that the page needs. */
const page = (path: string, part: () => Promise<{ default: ComponentType }>, ...areas: Area[]): Route => ({
  path,
  Page: lazy(withAreas(part, ...areas)),
});

/** Every page except the sign-in page, which has no shell. */
export const routes: readonly Route[] = [
  page("/", () => import("../home/home.tsx"), "home", "reports"),
  page("/servers", () => import("../servers/list.tsx"), "allowed", "bulk", "reports", "servers"),
  page("/servers/create", () => import("../servers/create.tsx"), "servers", "sshKeys"),
  page("/servers/:id", () => import("../instances/server.tsx"), "allowed", "bulk", "instances", "reports", "servers"),
  page("/instances", () => import("../instances/list.tsx"), "allowed", "bulk", "instances", "reports"),
  page("/instances/create", () => import("../instances/create.tsx"), "allowed", "backups", "instances", "reports", "servers"),
  page("/instances/:id", () => import("../instances/detail.tsx"), "allowed", "backups", "instances", "policies", "reports"),
  page("/instances/:id/clone", () => import("../instances/clone.tsx"), "allowed", "backups", "instances", "servers"),
  page("/deploys/:id", () => import("../code/deploy.tsx"), "allowed", "code"),
  page("/backups", () => import("../backups/list.tsx"), "allowed", "backups", "bulk"),
  page("/backups/upload", () => import("../uploads/upload.tsx"), "servers", "uploads"),
  page("/operations", () => import("../events/operations.tsx"), "bulk", "events"),
  page("/operations/:id", () => import("../events/operation.tsx"), "bulk"),
  page("/alerts", () => import("../alerts/list.tsx"), "alerts", "events"),
  page("/settings/alerts", () => import("../alerts/settings.tsx"), "alerts"),
  page("/settings/api-keys", () => import("../tokens/list.tsx"), "tokens"),
  page("/settings/api-keys/create", () => import("../tokens/create.tsx"), "tokens"),
  page("/settings/ssh-keys", () => import("../ssh-keys/list.tsx"), "sshKeys"),
  page("/settings/webhooks", () => import("../webhooks/list.tsx"), "webhooks"),
  page("/settings/webhooks/create", () => import("../webhooks/create.tsx"), "webhooks"),
  page("/settings/webhooks/:id", () => import("../webhooks/detail.tsx"), "webhooks"),
  page("/settings/people", () => import("../people/list.tsx"), "people"),
  page("/settings/account", () => import("../settings/account.tsx"), "people", "policies", "settings"),
  page("/activity", () => import("../events/list.tsx"), "alerts", "events", "people", "settings"),
  page("*", () => import("./not-found.tsx")),
];
