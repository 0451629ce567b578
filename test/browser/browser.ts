// The dashboard in a real browser: `open` shows a page of it, and a test fails if any of its pages complained.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page, type Request, type Response } from "playwright-core";
import { inject, test as base } from "vitest";
import { ROOT } from "../../infra/built.ts";
import { auth } from "../../shared/api/auth.ts";
import { BASE_PATH } from "../../shared/api/index.ts";
import type { TestAccount } from "../harness/account.ts";
import { stranger } from "../harness/client.ts";
import { apiUrl } from "../harness/cloud.ts";

export interface Look {
  /** Signed in as this account's user. */
  as?: Pick<TestAccount, "user">;
  phone?: boolean;
  dark?: boolean;
}

/** A path of the dashboard, in a browser that has not been there before. */
export type Open = (path: string, look?: Look) => Promise<Page>;

export interface Faults {
  /** Errors on the console, refused by the policy, asked of another host, or thrown by a script. */
  seen: string[];
  /** Those that a test brings about. */
  expected: RegExp[];
}

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
/** Longer than anything on a page takes on a busy machine. */
const PATIENCE_MS = 20_000;

export const test = base
  // oxlint-disable-next-line no-empty-pattern -- vitest reads there which fixtures this one needs: none
  .extend("browser", { scope: "file" }, async ({}, { onCleanup }) => {
    const address = await fetch(inject("chromium"));
    if (!address.ok) throw new Error(await address.text());
    const browser = await chromium.connect(await address.text());
    onCleanup(() => browser.close()); // the connection, and with it this file's contexts; not the browser
    return browser;
  })
  .extend("faults", ({ task }, { onCleanup }): Faults => {
    const faults: Faults = { seen: [], expected: [] };
    onCleanup(() => {
      const seen = faults.seen.filter((each) => !faults.expected.some((pattern) => pattern.test(each)));
      if (seen.length > 0) throw new Error(`${task.name}: the page complained:\n${[...new Set(seen)].join("\n")}`);
    });
    return faults;
  })
  .extend("open", ({ browser, faults, task }, { onCleanup }): Open => {
    const contexts: BrowserContext[] = [];
    onCleanup(async () => {
      const failed = (task.result?.errors?.length ?? 0) > 0;
      if (failed)
        await keepPictures(
          contexts.flatMap((context) => context.pages()),
          task.name,
        );
      for (const context of contexts) await context.close();
    });
    return async (path, { as, phone = false, dark = false } = {}) => {
      const context = await browser.newContext({
        baseURL: apiUrl(),
        viewport: phone ? PHONE : DESKTOP,
        isMobile: phone,
        hasTouch: phone,
        colorScheme: dark ? "dark" : "light",
        reducedMotion: "reduce",
        locale: "en-GB",
        timezoneId: "UTC",
        ...(as !== undefined && { storageState: await signedIn(as) }),
      });
      contexts.push(context);
      context.setDefaultTimeout(PATIENCE_MS);
      await watch(context, faults);
      const page = await context.newPage();
      const answer = await arrive(page, path);
      // Such as that the dashboard of these sources cannot be built.
      if (answer?.ok() !== true) throw new Error(await answer?.text());
      return page;
    };
  });

/** What the dashboard keeps of a session. */
async function signedIn({ user: { email, password } }: Pick<TestAccount, "user">) {
  const session = (await stranger.post("/auth/login", { email, password })).as(auth.login.data);
  return { cookies: [], origins: [{ origin: apiUrl(), localStorage: [{ name: "session", value: JSON.stringify(session) }] }] };
}

/** Where interfaces of containers come and go, Chromium drops what it is loading: then it is asked once more. */
async function arrive(page: Page, path: string): Promise<Response | null> {
  let dropped = false;
  const note = (request: Request): void => {
    dropped ||= NETWORK_CHANGED.test(request.failure()?.errorText ?? "");
  };
  page.on("requestfailed", note);
  const answer = await page.goto(path).catch((error: unknown) => {
    if (!NETWORK_CHANGED.test(String(error))) throw error;
    dropped = true;
    return null;
  });
  page.off("requestfailed", note);
  return dropped ? page.goto(path) : answer;
}

/** The machine's doing, and no page's. */
const NETWORK_CHANGED = /net::ERR_NETWORK_CHANGED/;

async function watch(context: BrowserContext, { seen }: Faults): Promise<void> {
  context.on("console", (message) => {
    const { url } = message.location();
    if (message.type() !== "error" || isRefusal(message.text(), url) || NETWORK_CHANGED.test(message.text())) return;
    seen.push(`${message.text()} (${url})`);
  });
  context.on("weberror", (error) => seen.push(error.error().stack ?? String(error.error())));
  context.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (!["data:", "blob:"].includes(protocol) && origin !== apiUrl()) seen.push(`asks ${request.url()}`);
  });
  await context.exposeBinding("noteViolation", (_, what: string) => seen.push(`violates the policy: ${what}`));
  await context.addInitScript(
    `addEventListener("securitypolicyviolation", (event) =>
       noteViolation(event.effectiveDirective + " " + event.blockedURI + " " + event.sourceFile + ":" + event.lineNumber + " " + event.sample));`,
  );
}

/** Chromium calls it an error that the API says no; the page is there to say so in words. */
const isRefusal = (text: string, url: string): boolean =>
  /^Failed to load resource: the server responded with a status of 4\d\d/.test(text) && url.startsWith(apiUrl() + BASE_PATH);

async function keepPictures(pages: Page[], name: string): Promise<void> {
  const folder = join(ROOT, ".local", "failures");
  mkdirSync(folder, { recursive: true });
  for (const [index, page] of pages.entries()) {
    const path = join(folder, `${name.replaceAll(/\W+/g, "-")}-${index}.png`);
    await page.screenshot({ path, fullPage: true }).catch(() => undefined); // the test's own failure says more
    console.log(`${page.url()} as it was: ${path}`);
  }
}
