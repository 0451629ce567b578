// Every page of the dashboard, each in its own chunk.
import { type ComponentType, lazy } from "react";
import { load } from "../app/loading.ts";

interface Route {
  path: string;
  Page: ComponentType;
}

const page = (path: string, part: () => Promise<{ default: ComponentType }>): Route => ({ path, Page: lazy(() => load(part)) });

/** Every page except the sign-in page, which has no shell. */
export const routes: readonly Route[] = [
  page("/", () => import("../home/home.tsx")),
  page("/servers", () => import("../servers/list.tsx")),
  page("/servers/create", () => import("../servers/create.tsx")),
  page("/servers/:id", () => import("../servers/detail.tsx")),
  page("/instances", () => import("../instances/list.tsx")),
  page("/instances/create", () => import("../instances/create.tsx")),
  page("/instances/:id", () => import("../instances/detail.tsx")),
  page("/instances/:id/clone", () => import("../instances/clone.tsx")),
  page("/backups", () => import("../backups/list.tsx")),
  page("/settings/api-keys", () => import("../tokens/list.tsx")),
  page("/settings/api-keys/create", () => import("../tokens/create.tsx")),
  page("/settings/ssh-keys", () => import("../ssh-keys/list.tsx")),
  page("/settings/account", () => import("../settings/account.tsx")),
  page("/activity", () => import("../events/list.tsx")),
  page("*", () => import("./not-found.tsx")),
];
