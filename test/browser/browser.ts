// The dashboard in a real browser: `open` opens a page, and a test fails if any of its pages logs an error.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page, type Request, type Response } from "playwright-core";
import { beforeAll, inject, test as base } from "vitest";
import { ROOT } from "../../infra/built.ts";
import * as auth from "../../shared/api/auth.ts";
import { BASE_PATH } from "../../shared/api/base-path.ts";
import type { TestAccount } from "../harness/account.ts";
import { dashboardOrigin } from "../harness/authenticator.ts";
import { anonymous } from "../harness/client.ts";
import { apiUrl } from "../harness/cloud.ts";

export interface Look {
  /** The account whose user is signed in. */
  as?: Pick<TestAccount, "user">;
  phone?: boolean;
  dark?: boolean;
  /** Opens the page in a new browser: its cache has nothing of the dashboard, and no other test uses it. */
  fresh?: boolean;
  /**
   * Opens the page in a new browser whose clock the test drives (`page.clock`): what lasts seconds lasts until the test moves on,
   * however busy the machine is.
   */
  clock?: boolean;
  /** The browser's time zone. */
  zone?: string;
  /** The browser's language. */
  locale?: string;
}

/** Opens a path of the dashboard, in a browser that keeps nothing from other tests except the dashboard's files. */
export type Open = (path: string, look?: Look) => Promise<Page>;

export interface Faults {
  /** Errors on the console, requests that the policy blocks or that go to another host, and exceptions of scripts. */
  logged: string[];
  /** Errors that a test causes on purpose. */
  expected: RegExp[];
}

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
/** Longer than anything on a page takes on a busy machine: only a test that fails waits for so long. */
const PATIENCE_MS = 60_000;

// If no file has used the dashboard yet, it is built now, and not within the time of the first test.
beforeAll(async () => {
  const response = await fetch(inject("shared").apiUrl);
  if (!response.ok) throw new Error(await response.text());
});

export const test = base
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the fixtures that this one needs from the pattern: none
  .extend("browser", { scope: "worker" }, async ({}, { onCleanup }) => {
    const address = await fetch(inject("chromium"));
    if (!address.ok) throw new Error(await address.text());
    const browser = await chromium.connect(await address.text());
    onCleanup(() => browser.close()); // closes the connection and this process's contexts, not the browser
    return browser;
  })
  .extend("faults", ({ task }, { onCleanup }): Faults => {
    const faults: Faults = { logged: [], expected: [] };
    onCleanup(() => {
      const unexpected = faults.logged.filter((each) => !faults.expected.some((pattern) => pattern.test(each)));
      if (unexpected.length > 0) throw new Error(`${task.name}: the page logged errors:\n${[...new Set(unexpected)].join("\n")}`);
    });
    return faults;
  })
  // oxlint-disable-next-line no-empty-pattern -- as above
  .extend("idle", { scope: "worker" }, ({}): Map<string, Window[]> => new Map())
  .extend("open", ({ browser, idle, faults, task }, { onCleanup }): Open => {
    const used: { window: Window; look?: string }[] = [];
    onCleanup(async () => {
      const failed = task.result?.state === "fail"; // in this try: the errors of an earlier one are kept
      if (failed)
        await keepPictures(
          used.flatMap(({ window }) => window.context.pages()),
          task.name,
        );
      for (const { window, look } of used)
        if (look === undefined || failed) await window.context.close();
        else {
          await leave(window);
          idle.set(look, [...(idle.get(look) ?? []), window]);
        }
    });
    return async (
      path,
      { as, phone = false, dark = false, fresh = false, clock = false, zone = "UTC", locale = "en-GB" } = {},
    ) => {
      const look = fresh || clock ? undefined : JSON.stringify({ phone, dark, zone, locale });
      const session = as && (await signedIn(as));
      const idleWindow = look === undefined ? undefined : idle.get(look)?.pop();
      const window = idleWindow ?? (await newWindow(browser, { phone, dark, zone, locale }, session));
      used.push({ window, ...(look !== undefined && { look }) });
      const { page } = window;
      if (idleWindow !== undefined) await page.evaluate(remembering(session));
      if (clock) await page.clock.install(); // for all pages of the browser
      window.faults = faults;
      const response = await arrive(page, path);
      // The response says why, for example that the dashboard could not be built.
      if (response?.ok() !== true) throw new Error(await response?.text());
      return page;
    };
  });

/** An address of the dashboard's origin that is not the dashboard. */
const NO_PAGE = "/config.json";

/** Resets a window after its test, except for the dashboard's files, which it has loaded and compiled. */
async function leave(window: Window): Promise<void> {
  const { context } = window;
  window.faults = noFaults();
  const [keptPage = await context.newPage(), ...others] = context.pages();
  for (const page of others) await page.close();
  window.page = keptPage;
  keptPage.removeAllListeners();
  keptPage.once("dialog", (dialog) => void dialog.accept()); // confirms leaving a filled-in form
  await keptPage.unrouteAll({ behavior: "ignoreErrors" });
  await keptPage.emulateMedia({ colorScheme: window.colorScheme });
  await keptPage.setViewportSize(window.viewport);
  await context.clearPermissions();
  await arrive(keptPage, NO_PAGE);
  keptPage.removeAllListeners();
}

/**
 * Opens another page as a link of the dashboard does: without loading the dashboard again, which is most of what a page costs.
 */
export const moveTo = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(`history.pushState(null, "", ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent("popstate"));`);

/** A separate browser in the shared process. */
interface Window {
  context: BrowserContext;
  page: Page;
  colorScheme: "dark" | "light";
  viewport: { width: number; height: number };
  /** Belongs to the test that uses it. */
  faults: Faults;
}

async function newWindow(
  browser: Browser,
  { phone, dark, zone, locale }: { phone: boolean; dark: boolean; zone: string; locale: string },
  session: string | undefined,
): Promise<Window> {
  const colorScheme = dark ? "dark" : "light";
  const viewport = phone ? PHONE : DESKTOP;
  const localStorage = session === undefined ? [] : [{ name: "session", value: session }];
  const context = await browser.newContext({
    baseURL: apiUrl(),
    viewport,
    isMobile: phone,
    hasTouch: phone,
    colorScheme,
    reducedMotion: "reduce",
    locale,
    timezoneId: zone,
    storageState: { cookies: [], origins: [{ origin: apiUrl(), localStorage }] },
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const window: Window = { context, page: await context.newPage(), colorScheme, viewport, faults: noFaults() };
  await watch(window);
  return window;
}

const noFaults = (): Faults => ({ logged: [], expected: [] });

/** What the dashboard stores of a session. */
async function signedIn({ user: { email, password } }: Pick<TestAccount, "user">): Promise<string> {
  return JSON.stringify((await anonymous.post("/auth/login", { email, password })).as(auth.login().data));
}

/**
 * Returns a script that sets the session of a used window: Playwright's own `setStorageState` opens another page for it, which
 * costs as much as one of the dashboard's.
 */
const remembering = (session: string | undefined): string => `
  localStorage.clear();
  sessionStorage.clear();
  ${session === undefined ? "" : `localStorage.setItem("session", ${JSON.stringify(session)});`}`;

/** Loads a page, and retries once: when network interfaces of containers appear or vanish, Chromium aborts what it is loading. */
async function arrive(page: Page, path: string): Promise<Response | null> {
  let dropped = false;
  const note = (request: Request): void => {
    dropped ||= NETWORK_CHANGED.test(request.failure()?.errorText ?? "");
  };
  page.on("requestfailed", note);
  const response = await page.goto(path).catch((error: unknown) => {
    if (!NETWORK_CHANGED.test(String(error))) throw error;
    dropped = true;
    return null;
  });
  page.off("requestfailed", note);
  return dropped ? page.goto(path) : response;
}

/** Caused by the machine, not by a page. */
const NETWORK_CHANGED = /net::ERR_NETWORK_CHANGED/;

async function watch(window: Window): Promise<void> {
  const { context } = window;
  const note = (fault: string): void => void window.faults.logged.push(fault);
  context.on("console", (message) => {
    const { url } = message.location();
    if (message.type() !== "error" || isErrorResponse(message.text(), url) || NETWORK_CHANGED.test(message.text())) return;
    note(`${message.text()} (${url})`);
  });
  context.on("weberror", (error) => note(error.error().stack ?? String(error.error())));
  context.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (!["data:", "blob:"].includes(protocol) && !ownOrigins().includes(origin)) note(`asks ${request.url()}`);
  });
  await context.exposeBinding("noteViolation", (_, violation: string) => note(`violates the policy: ${violation}`));
  await context.addInitScript(
    `addEventListener("securitypolicyviolation", (event) =>
       noteViolation(event.effectiveDirective + " " + event.blockedURI + " " + event.sourceFile + ":" + event.lineNumber + " " + event.sample));`,
  );
}

/** Chromium logs error responses of the API as errors; the page shows them in words. */
const isErrorResponse = (text: string, url: string): boolean =>
  /^Failed to load resource: the server responded with a status of 4\d\d/.test(text) &&
  ownOrigins().some((origin) => url.startsWith(origin + BASE_PATH));

/** The dashboard's, by its address, and by its name, as browsers need it for passkeys. */
const ownOrigins = (): string[] => [apiUrl(), dashboardOrigin()];

async function keepPictures(pages: Page[], name: string): Promise<void> {
  const folder = join(ROOT, ".local", "failures");
  mkdirSync(folder, { recursive: true });
  for (const [index, page] of pages.entries()) {
    const path = join(folder, `${name.replaceAll(/\W+/g, "-")}-${index}.png`);
    await page.screenshot({ path, fullPage: true }).catch(() => undefined); // the test's own failure says more
    console.log(`${page.url()} as it was: ${path}`);
  }
}
