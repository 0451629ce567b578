// Signing in and out, and what happens to a page when its session ends.
import type { Locator, Page, Route } from "playwright-core";
import { describe, expect } from "vitest";
import * as z from "zod";
import * as auth from "../../shared/api/auth.ts";
import { Operation } from "../../shared/api/operations.ts";
import { account, newPublicKey, type TestAccount, unique, uniqueDomain } from "../harness/account.ts";
import { clientWith, anonymous } from "../harness/client.ts";
import { apiUrl } from "../harness/cloud.ts";
import { LOGIN_FAILURES } from "../../shared/domain/limits.ts";
import { test } from "./browser.ts";
import { choose } from "./instance-page.ts";

const READ_SESSION = `localStorage.getItem("session")`;

async function logIn(page: Page, { email, password }: { email: string; password: string }): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** What this does to a page that gets no event of it. */
async function anotherTabSignsIn({ user: { email, password } }: TestAccount): Promise<string> {
  const session = (await anonymous.post("/auth/login", { email, password })).as(auth.login().data);
  return `localStorage.setItem("session", ${JSON.stringify(JSON.stringify(session))})`;
}

const isAt = (page: Page, path: string) =>
  expect.poll(() => new URL(page.url()).pathname + new URL(page.url()).search).toBe(path);
const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name }).first();

test("every page needs signing in, which leads to the requested page", async ({ open }) => {
  const { user } = await account();
  const page = await open("/servers?status=active");
  await isAt(page, "/login");
  await logIn(page, user);
  await heading(page, "Servers").waitFor();
  await isAt(page, "/servers?status=active");
  await page.reload();
  await heading(page, "Servers").waitFor();
});

test("the sign-in form names empty fields and sends nothing", async ({ open }) => {
  const page = await open("/login");
  const sent: string[] = [];
  page.on("request", (request) => request.method() === "POST" && sent.push(request.url()));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("Enter your email.", { exact: true }).waitFor();
  await page.getByText("Enter your password.", { exact: true }).waitFor();
  expect(sent).toEqual([]);
});

test("a wrong password shows an error, and nothing is stored", async ({ open }) => {
  const { user } = await account();
  const page = await open("/login");
  await logIn(page, { email: user.email, password: "not the right one" });
  await page.getByText("Incorrect email or password.").waitFor();
  expect(await page.evaluate(READ_SESSION)).toBeNull();
});

test("a locked-out user sees for how long", async ({ open }) => {
  const { user } = await account();
  const page = await open("/login");
  let status = 0;
  for (let attempt = 0; attempt <= LOGIN_FAILURES.pair && status !== 429; attempt++) {
    const responded = page.waitForResponse("**/auth/login");
    await logIn(page, { email: user.email, password: "not the right one" });
    status = (await responded).status();
  }
  await page.getByText("Too many failed attempts").first().waitFor();
  const timer = page.getByRole("timer");
  const before = await timer.textContent();
  expect(before).toMatch(/^\d+:\d\d$/);
  await expect.poll(() => timer.textContent()).not.toBe(before);
  await expect.poll(() => page.getByRole("button", { name: "Sign in" }).isDisabled()).toBe(true);
  // Only this email is locked out.
  await logIn(page, (await account()).user);
  await heading(page, "Home").waitFor();
});

test("a service that is down is not shown as a lock-out", async ({ open, faults }) => {
  faults.expected.push(/^Failed to load resource/);
  const { user } = await account();
  const page = await open("/login");
  await page.route("**/api/v1/auth/login", (route) =>
    route.fulfill({
      status: 503,
      headers: { "retry-after": "30" },
      json: { success: false, error: { code: "SERVICE_UNAVAILABLE", message: "Sign-in is currently unavailable" } },
    }),
  );
  await logIn(page, user);
  await page.getByText("Something went wrong on our side").waitFor();
  expect(await page.getByText("Too many failed attempts").count()).toBe(0);
  await expect.poll(() => page.getByRole("button", { name: "Sign in" }).isEnabled()).toBe(true);
});

describe("a file of the dashboard that does not load", () => {
  const NOT_LOADED = "Couldn't load this page";
  const notLoaded = (page: Page) => page.getByRole("alert").getByText(NOT_LOADED);
  const networkFaults = [/Failed to load resource/, /dynamically imported module/, /Unable to preload CSS/, /NotLoaded/];

  test("a dashboard file that does not load is fetched once more automatically", async ({ open, faults }) => {
    faults.expected.push(...networkFaults);
    const page = await open("/", { as: await account(), fresh: true });
    await heading(page, "Home").waitFor();
    let failures = 0;
    await page.route("**/assets/*.js", (route) => (failures++ === 0 ? route.abort() : route.continue()));
    await page.getByRole("link", { name: "Activity" }).click();
    await heading(page, "Activity").waitFor();
    expect(failures).toBeGreaterThan(1);
  });

  test("a dashboard file that does not load shows a network error, whichever file it is, and never a blank page", async ({
    open,
    faults,
  }) => {
    faults.expected.push(...networkFaults);
    const page = await open("/servers", { as: await account(), fresh: true });
    await heading(page, "Servers").waitFor();
    for (const [name, text] of [
      ["main-*.js", "Loading the dashboard"], // nothing else has arrived that could say more
      ["en-*.js", NOT_LOADED],
      ["all.en-*.js", NOT_LOADED],
      ["frame-*.js", NOT_LOADED],
      ["first-*.js", NOT_LOADED],
      ["parts-*.js", NOT_LOADED],
      ["list-*.js", NOT_LOADED],
      ["*.css", NOT_LOADED],
    ] as const) {
      const file = `**/assets/${name}`;
      await page.evaluate("sessionStorage.setItem('reloaded', JSON.stringify({ path: location.pathname, at: Date.now() }))");
      await page.route(file, (route) => route.abort());
      const failedRequest = page.waitForEvent("requestfailed");
      await page.reload();
      await failedRequest;
      await expect.poll(async () => `${file}: ${await page.locator("body").innerText()}`).toContain(text);
      expect(await page.getByText(/bug|fault of the dashboard/).count()).toBe(0);
      await page.unroute(file);
    }
    await page.reload();
    await heading(page, "Servers").waitFor();
  });

  test("a dashboard file that does not load shows a Reload button, and loads automatically when the network is back", async ({
    open,
    faults,
  }) => {
    faults.expected.push(...networkFaults);
    const page = await open("/login", { fresh: true });
    await page.getByLabel("Email").waitFor();
    await page.route("**/assets/first-*.js", (route) => route.abort());
    await page.reload();
    await notLoaded(page).waitFor();
    await page.getByRole("button", { name: "Reload" }).waitFor();
    await page.unroute("**/assets/first-*.js");
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByLabel("Email").waitFor();
    await notLoaded(page).waitFor({ state: "detached" });
  });
});

test("a browser whose clock is a day off can sign in, stays signed in, and knows which API keys have expired", async ({
  open,
}) => {
  const { user, token } = await account();
  const inHours = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();
  await token(["servers:read"], inHours(24));
  await token(["servers:read"], inHours(-1));
  for (const days of [1.5, -1.5]) {
    const page = await open("/config.json", { fresh: true }); // the dashboard itself never sees the right time
    await page.clock.install({ time: Date.now() + days * 86_400_000 });
    await page.goto("/login");
    await logIn(page, user);
    await heading(page, "Home").waitFor();
    await page.reload();
    await heading(page, "Home").waitFor();
    await page.goto("/settings/api-keys");
    await page.getByText("in 24 hours").waitFor();
    await expect.poll(() => page.getByText(/^Expired/).count()).toBe(1);
  }
});

test("signing in never redirects to another host", async ({ open }) => {
  const { user } = await account();
  const page = await open("/login");
  await page.goto(`${apiUrl()}//example.com/x`);
  await isAt(page, "/login");
  await logIn(page, user);
  await heading(page, "Home").waitFor();
  expect(new URL(page.url()).origin).toBe(apiUrl());
});

test("a half-filled form survives signing in again, without its passwords, and only for the same user", async ({ open }) => {
  const [owner, another] = [await account({ seeded: true }), await account({ seeded: true })];
  const { id } = await owner.instance({ name: "Shop" });
  await owner.backup(id);
  const page = await open(`/instances/${id}/clone`, { as: owner });
  const name = page.getByLabel("Name", { exact: true });
  const expire = async () => {
    await name.fill("Staging");
    await page.getByRole("checkbox", { name: "Database" }).uncheck();
    const token = z.object({ token: z.string() }).parse(JSON.parse(String(await page.evaluate(READ_SESSION)))).token;
    await page.getByLabel("Domain").fill(uniqueDomain());
    await clientWith(token).post("/auth/logout");
    // Another request of the page may find out first.
    const leaving = [page.getByRole("button", { name: "Create clone" }).click(), isAt(page, "/login")];
    await Promise.any(leaving);
    await isAt(page, "/login");
  };
  await expire();
  await logIn(page, owner.user);
  await expect.poll(() => name.inputValue()).toBe("Staging");
  await expect.poll(() => page.getByRole("checkbox", { name: "Database" }).isChecked()).toBe(false);
  await expire();
  await logIn(page, another.user);
  await page.getByText("Not found").waitFor();
});

describe("the rate limit", () => {
  const WAIT_SECONDS = 50;
  const limited = (route: Route): Promise<void> =>
    route.fulfill({
      status: 429,
      headers: { "retry-after": String(WAIT_SECONDS) },
      json: { success: false, error: { code: "RATE_LIMIT_EXCEEDED", message: "Too many requests" } },
    });

  const secondsLeft = async (timer: Locator): Promise<number> => {
    const [, seconds] = /^(\d+) s$/.exec((await timer.textContent()) ?? "") ?? [];
    return Number(seconds);
  };

  /** Expects that the countdown runs at its own pace, then lets the time pass: nothing is repeated before that. */
  async function expectCountdown(page: Page, timer: Locator): Promise<void> {
    const first = await secondsLeft(timer);
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThanOrEqual(WAIT_SECONDS);
    await expect.poll(() => secondsLeft(timer)).toBeLessThan(first);
    await page.clock.fastForward(WAIT_SECONDS * 1000);
  }

  test("a rate limit shows a countdown, and then loading continues automatically", async ({ open }) => {
    const page = await open("/", { as: await account(), clock: true });
    await heading(page, "Home").waitFor();
    let requestCount = 0;
    await page.route("**/api/v1/servers?*", (route) => (requestCount++ > 0 ? route.continue() : limited(route)));
    await page.getByRole("link", { name: "Servers", exact: true }).first().click();
    await page.getByText("Too many requests").waitFor();
    await expectCountdown(page, page.getByRole("timer"));
    await page.getByText("No servers yet.").waitFor();
    await page.getByText("Too many requests").waitFor({ state: "detached" });
  });

  test("a limit of one thing, such as invitations in a day, holds up nothing else", async ({ open }) => {
    const owner = await account();
    const email = `${unique("invited")}@example.com`;
    await (await owner.session()).post("/users/invitations", { email, role: "viewer" });
    const page = await open("/settings/people", { as: owner, clock: true });
    const details = { limit: 30, window_seconds: 86_400, scope: "invitation" };
    await page.route("**/resend", (route) =>
      route.fulfill({
        status: 429,
        headers: { "retry-after": "80000", "x-ratelimit-limit": "100", "x-ratelimit-remaining": "99", "x-ratelimit-reset": "0" },
        json: { success: false, error: { code: "RATE_LIMIT_EXCEEDED", message: "Too many requests", details } },
      }),
    );
    await choose(page, email, "Send again");
    await page.getByText(`Couldn't send the invitation to ${email}`).first().waitFor();
    await page.getByRole("link", { name: "Servers", exact: true }).first().click();
    await page.getByText("No servers yet.").waitFor();
  });

  test("a request that hits the rate limit is retried automatically", async ({ open }) => {
    const page = await open("/settings/ssh-keys", { as: await account(), clock: true });
    let requestCount = 0;
    await page.route("**/api/v1/ssh-keys", (route) =>
      route.request().method() !== "POST" || requestCount++ > 0 ? route.continue() : limited(route),
    );
    await page.getByRole("button", { name: "Add SSH key" }).first().click();
    const adding = page.getByRole("dialog", { name: "Add SSH key" });
    await adding.getByLabel("Name").fill("Ops laptop");
    await adding.getByLabel("Public key").fill(newPublicKey());
    await adding.getByRole("button", { name: "Add SSH key" }).click();
    await expectCountdown(page, adding.getByRole("timer"));
    await page.getByText("SSH key added: Ops laptop").first().waitFor();
  });

  test("actions without a form show the countdown and go on by themselves, too", async ({ open, faults }) => {
    faults.expected.push(/^asks http:\/\/127\.0\.0\.1:\d+\/.*\.zip\?/); // the storage is another origin
    const owner = await account({ seeded: true });
    const { id } = await owner.instance({ name: "Shop" });
    await owner.backup(id);
    await owner.until((await owner.api.post(`/instances/${id}/actions`, { action: "stop" })).as(Operation).id);
    const page = await open(`/instances/${id}?tab=backups`, { as: owner, clock: true });
    const requestCounts = { start: 0, download: 0 };
    await page.route("**/actions", (route) => (requestCounts.start++ > 0 ? route.continue() : limited(route)));
    await page.route("**/download", (route) => (requestCounts.download++ > 0 ? route.continue() : limited(route)));
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await expectCountdown(page, page.getByRole("timer").first());
    await page.getByText("Instance started: Shop").first().waitFor();
    await page.getByRole("button", { name: /^Actions on the backup/ }).click();
    await page.getByRole("menuitem", { name: "Download", exact: true }).click();
    const saved = page.waitForEvent("download");
    await expectCountdown(page, page.getByRole("timer").first());
    await saved;
    expect(requestCounts).toEqual({ start: 2, download: 2 });
  });
});

test("if the service is down the sign-in page says so", async ({ open, faults }) => {
  faults.expected.push(/^Failed to load resource/);
  const { user } = await account();
  const page = await open("/login");
  await page.route("**/api/v1/auth/login", (route) => route.abort());
  await logIn(page, user);
  await page
    .getByRole("alert")
    .or(page.getByText(/Can't reach/))
    .first()
    .waitFor();
  expect(await page.evaluate(READ_SESSION)).toBeNull();
});

test("signing out makes the session invalid for the API and removes it from the browser", async ({ open }) => {
  const { user } = await account();
  const page = await open("/");
  await logIn(page, user);
  await heading(page, "Home").waitFor();
  const token = z.object({ token: z.string() }).parse(JSON.parse(String(await page.evaluate(READ_SESSION)))).token;
  expect((await clientWith(token).get("/auth/me")).status).toBe(200);
  await page.getByRole("button", { name: user.name }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await isAt(page, "/login");
  await page.getByText("You've signed out.").waitFor();
  expect(await page.evaluate("localStorage.length + sessionStorage.length")).toBe(0);
  expect((await clientWith(token).get("/auth/me")).status).toBe(401);
  await page.goto("/servers");
  await isAt(page, "/login");
});

test("signing out is confirmed even if another request finds out first that the session ended", async ({ open, faults }) => {
  faults.expected.push(/401/);
  const page = await open("/", { as: await account() });
  await heading(page, "Home").waitFor();
  await page.route("**/auth/logout", async (route) => {
    const response = await route.fetch();
    await page.getByRole("link", { name: "Servers" }).first().click();
    await page.getByText("Your session ended.").waitFor();
    await route.fulfill({ response });
  });
  await page.getByRole("button", { name: /^Owner of/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByText("You've signed out.").waitFor();
});

test("a session that the service ended leads to the sign-in page, and from there back", async ({ open }) => {
  const owner = await account();
  const page = await open("/settings/api-keys", { as: owner });
  await heading(page, "API keys").waitFor();
  const token = z.object({ token: z.string() }).parse(JSON.parse(String(await page.evaluate(READ_SESSION)))).token;
  await clientWith(token).post("/auth/logout");
  await page.getByRole("link", { name: "Servers" }).first().click();
  await isAt(page, "/login");
  await page.getByText("Your session ended.").waitFor();
  await logIn(page, owner.user);
  await heading(page, "Servers").waitFor();
});

test("the dashboard ends a session when it expires", async ({ open }) => {
  const owner = await account();
  const page = await open("/login", { clock: true });
  await logIn(page, owner.user);
  await heading(page, "Home").waitFor();
  await page.clock.fastForward("12:01:00");
  await isAt(page, "/login");
  await page.getByText("Your session expired.").waitFor();
  expect(await page.evaluate(READ_SESSION)).toBeNull();
});

test("signing out in one tab signs out the others", async ({ open }) => {
  const owner = await account();
  const page = await open("/servers", { as: owner });
  const other = await page.context().newPage();
  await other.goto("/instances");
  await heading(other, "Instances").waitFor();
  await page.getByRole("button", { name: owner.user.name }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await isAt(page, "/login");
  await isAt(other, "/login");
});

test("the next user who signs in does not see the previous user's notifications", async ({ open }) => {
  const [owner, another] = [await account(), await account()];
  const page = await open("/settings/ssh-keys", { as: owner });
  await page.getByRole("button", { name: "Add SSH key" }).first().click();
  const adding = page.getByRole("dialog", { name: "Add SSH key" });
  await adding.getByLabel("Name").fill("Ops laptop");
  await adding.getByLabel("Public key").fill(newPublicKey());
  await adding.getByRole("button", { name: "Add SSH key" }).click();
  await page.getByText("SSH key added: Ops laptop").first().waitFor();
  await page.getByRole("button", { name: owner.user.name }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await isAt(page, "/login");
  await logIn(page, another.user);
  await page.getByRole("button", { name: another.user.name }).waitFor();
  expect(await page.getByText("SSH key added: Ops laptop").count()).toBe(0);
});

test("a page that comes back from the browser's cache is the present user's, and ends no session but its own", async ({
  open,
}) => {
  const [first, second] = [await account(), await account()];
  const page = await open("/instances", { as: first });
  await page.getByRole("button", { name: first.user.name }).waitFor();
  // A page in that cache gets no storage events.
  await page.evaluate(
    `${await anotherTabSignsIn(second)}; dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))`,
  );
  await page.getByRole("button", { name: second.user.name }).waitFor();
  expect(await page.getByRole("button", { name: first.user.name }).count()).toBe(0);
});

test("a session that ends takes no newer one with it", async ({ open }) => {
  const [first, second] = [await account(), await account()];
  const page = await open("/instances", { as: first });
  await page.getByRole("button", { name: first.user.name }).waitFor();
  await page.evaluate(await anotherTabSignsIn(second));
  await page.getByRole("button", { name: first.user.name }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("button", { name: second.user.name }).waitFor();
});

test("signing out of a session that has already ended works", async ({ open }) => {
  const owner = await account();
  const page = await open("/settings/api-keys", { as: owner });
  await heading(page, "API keys").waitFor();
  const token = z.object({ token: z.string() }).parse(JSON.parse(String(await page.evaluate(READ_SESSION)))).token;
  await clientWith(token).post("/auth/logout");
  await page.getByRole("button", { name: owner.user.name }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByText("You've signed out.").waitFor();
  expect(await page.evaluate(READ_SESSION)).toBeNull();
});
