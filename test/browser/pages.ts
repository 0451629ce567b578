// Every page of the dashboard, for tests of all pages.
import type { Page, Request } from "playwright-core";
import { expect } from "vitest";
import * as z from "zod";
import { Deploy } from "../../shared/api/deploys.ts";
import { Operation } from "../../shared/api/operations.ts";
import type { TestAccount } from "../harness/account.ts";
import { moveTo } from "./browser.ts";

/** The content of the pages of one resource. */
export interface Things {
  server: string;
  instance: string;
  /** A bulk action. */
  operation: string;
  webhook: string;
  deploy: string;
}

export interface Destination {
  /** The route in the dashboard's own table, or the sign-in page's. */
  route: string;
  heading: RegExp;
  path?: (things: Things) => string;
}

export const LOGIN: Destination = { route: "/login", heading: /ERP/ };

export const PAGES: readonly Destination[] = [
  { route: "/", heading: /^Home/ },
  { route: "/servers", heading: /^Servers/ },
  { route: "/servers/create", heading: /server/i },
  { route: "/servers/:id", heading: /./, path: ({ server }) => `/servers/${server}` },
  { route: "/instances", heading: /^Instances/ },
  { route: "/instances/create", heading: /^Create instance/ },
  { route: "/instances/:id", heading: /^Shop/, path: ({ instance }) => `/instances/${instance}` },
  { route: "/instances/:id/clone", heading: /^Clone Shop/, path: ({ instance }) => `/instances/${instance}/clone` },
  { route: "/deploys/:id", heading: /^Deploy of/, path: ({ deploy }) => `/deploys/${deploy}` },
  { route: "/backups", heading: /^Backups/ },
  { route: "/backups/upload", heading: /^Upload backup/ },
  { route: "/operations", heading: /^Operations/ },
  { route: "/operations/:id", heading: /^Change labels/, path: ({ operation }) => `/operations/${operation}` },
  { route: "/alerts", heading: /^Alerts/ },
  { route: "/settings/alerts", heading: /^Alert settings/ },
  { route: "/settings/api-keys", heading: /^API keys/i },
  { route: "/settings/api-keys/create", heading: /API key/i },
  { route: "/settings/ssh-keys", heading: /^SSH keys/i },
  { route: "/settings/webhooks", heading: /^Webhooks/ },
  { route: "/settings/webhooks/create", heading: /^Create webhook/ },
  { route: "/settings/webhooks/:id", heading: /^hook/i, path: ({ webhook }) => `/settings/webhooks/${webhook}` },
  { route: "/settings/people", heading: /^People/ },
  { route: "/settings/account", heading: /account/i },
  { route: "/activity", heading: /^Activity/ },
  { route: "*", heading: /Page not found/, path: () => "/nowhere" },
];

export const pathOf = ({ route, path = () => route }: Destination, things: Things): string => path(things);

/** The parts of pages that have some. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  "/servers/:id": ["metrics", "history"],
  "/instances/:id": ["backups", "code", "metrics", "history", "logs", "settings"],
};

/** The paths of a page and its parts. */
export function pathsOf(destination: Destination, things: Things): string[] {
  const path = pathOf(destination, things);
  return [path, ...(PARTS[destination.route] ?? []).map((tab) => `${path}?tab=${tab}`)];
}

/** The account's own resources, one of each kind. */
export async function furnish(owner: TestAccount): Promise<Things> {
  const server = await owner.server({ name: "shop-1" });
  const instance = await owner.instance({ name: "Shop", server_id: server.id });
  await owner.backup(instance.id, { note: "Before the inventory" });
  return {
    server: server.id,
    instance: instance.id,
    operation: await bulkAction(owner, instance.id),
    webhook: await owner.webhook(),
    deploy: await deployed(owner, instance.id),
  };
}

/** A deploy that has ended as it should, of the code that the instance has. */
export async function deployed(
  owner: TestAccount,
  instanceId: string,
  status: "succeeded" | "failed" = "succeeded",
): Promise<string> {
  const body = { rehearse: false, backup_first: false };
  const { id, operation_id } = (await owner.api.post(`/instances/${instanceId}/deploys`, body)).as(Deploy);
  await owner.until(operation_id, status);
  return id;
}

/** One that has ended, and has changed nothing. */
export async function bulkAction(owner: TestAccount, instanceId: string): Promise<string> {
  const body = { action: "set_labels", select: { ids: [instanceId] }, parameters: { remove: ["unused"] } };
  const { id } = (await owner.api.post("/bulk", body)).as(Operation);
  await owner.until(id);
  return id;
}

/** Waits until the page has its heading and all of its data. */
export async function isShown(page: Page, { heading }: Destination): Promise<void> {
  await page.getByRole("heading", { level: 1, name: heading }).first().waitFor();
  await page.locator(".deferred").first().waitFor({ state: "detached" });
  await page.waitForLoadState("networkidle");
}

const QUIET_MS = 300;

/** The same after `moveTo`, which Playwright does not take for a navigation that ends. */
export async function moveAndSee(page: Page, destination: Destination, things: Things): Promise<void> {
  const inFlight = new Set<Request>();
  let lastAt = performance.now();
  const addRequest = (request: Request): void => {
    inFlight.add(request);
    lastAt = performance.now();
  };
  const removeRequest = (request: Request): void => {
    inFlight.delete(request);
    lastAt = performance.now();
  };
  page.on("request", addRequest).on("requestfinished", removeRequest).on("requestfailed", removeRequest);
  await moveTo(page, pathOf(destination, things));
  await page.getByRole("heading", { level: 1, name: destination.heading }).first().waitFor();
  await page.locator(".deferred").first().waitFor({ state: "detached" });
  await expect.poll(() => inFlight.size === 0 && performance.now() - lastAt > QUIET_MS).toBe(true);
  page.off("request", addRequest).off("requestfinished", removeRequest).off("requestfailed", removeRequest);
}

/** Scripts, styles, fonts and the API's responses. The largest are forms, which load the schemas that they are checked by. */
export const PAGE_BYTES_MAX = 512_000;
/** The most files that all of these may load. */
export const PAGE_FILES_MAX = 50;

const Files = z.array(z.object({ name: z.string(), encodedBodySize: z.number(), decodedBodySize: z.number() }));

const LOADED = `[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .map(({ name, encodedBodySize, decodedBodySize }) => ({ name, encodedBodySize, decodedBodySize }))`;

const isCode = ({ name }: { name: string }): boolean => /\.(js|css)$/.test(new URL(name).pathname);

/** The compressed bytes of everything that a page has loaded, whether it came from the service or the browser's cache. */
export const bytesLoaded = async (page: Page): Promise<number> => sumOf(await loaded(page));

export const filesLoaded = async (page: Page): Promise<number> => (await loaded(page)).length;

/** The bytes of its scripts and styles alone. */
export const bytesOfCode = async (page: Page): Promise<number> => sumOf((await loaded(page)).filter(isCode));

const sumOf = (files: z.infer<typeof Files>): number => files.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);

async function loaded(page: Page): Promise<z.infer<typeof Files>> {
  const all = Files.parse(await page.evaluate(LOADED));
  const files = all.filter(isCode);
  const uncompressed = files.filter(
    ({ encodedBodySize, decodedBodySize }) => encodedBodySize >= decodedBodySize && decodedBodySize > 1000,
  );
  expect(uncompressed).toEqual([]);
  expect(files.length).toBeGreaterThan(1);
  return all;
}
