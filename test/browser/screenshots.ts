// Takes a picture of every page, light and dark, on a desktop and on a phone: `npm run screenshots`.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import { ROOT } from "../../infra/built.ts";
import { createUser } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, unique } from "../harness/account.ts";
import { bigAccount } from "./big-account.ts";
import { test } from "./browser.ts";
import { furnish, isShown, LOGIN, PAGES, pathOf, type Destination, type Things } from "./pages.ts";

const FOLDER = join(ROOT, "docs", "screenshots");

const LOOKS = ["light", "dark"].flatMap((mode) => ["desktop", "phone"].map((device) => ({ mode, device })));

interface Pictured {
  owner: TestAccount;
  things: Things;
}
let small: Pictured;
let big: Pictured;
beforeAll(async () => {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  const owner = await account();
  small = { owner, things: await furnish(owner) };
  big = await bigAccount();
}, 600_000);

/** `/servers/:id` is `server`, `/servers/create` is `servers-create`. */
function nameOf({ route }: Destination): string {
  if (route === "/") return "home";
  return route
    .slice(1)
    .replaceAll(/s\/:id/g, "")
    .replaceAll("/", "-");
}

/** Another user for each picture, because together they would make too many requests. */
async function newUser(of: TestAccount): Promise<Pick<TestAccount, "user">> {
  const user = { email: `${unique("alex")}@example.com`, name: "Alex Kim", password: "correct horse battery" };
  return { user: { ...user, id: (await createUser(of.id, user)).id } };
}

/** Every page except "Page not found". */
const DESTINATIONS = [LOGIN, ...PAGES.filter(({ route }) => route !== "*")];

test.for(DESTINATIONS.flatMap((destination) => LOOKS.map((look) => ({ destination, look, name: nameOf(destination) }))))(
  "$name $look.mode $look.device",
  async ({ destination, look: { mode, device }, name }, { open }) => {
    const as = destination === LOGIN ? {} : { as: await newUser(small.owner) };
    const page = await open(pathOf(destination, small.things), { ...as, dark: mode === "dark", phone: device === "phone" });
    await takePicture(page, destination, `${name}-${mode}-${device}`);
  },
);

/** Pages that look different with much on them. */
const FULL = PAGES.filter(({ route }) => ["/", "/servers", "/servers/:id", "/instances", "/backups"].includes(route));

test.for(
  FULL.flatMap((destination) => ["desktop", "phone"].map((device) => ({ destination, device, name: nameOf(destination) }))),
)("$name $device of an account with 320 instances", async ({ destination, device, name }, { open }) => {
  const page = await open(pathOf(destination, big.things), { as: await newUser(big.owner), phone: device === "phone" });
  await takePicture(page, destination, `${name}-many-${device}`);
});

async function takePicture(page: Page, destination: Destination, name: string): Promise<void> {
  await isShown(page, destination);
  const picture = await page.screenshot({ path: join(FOLDER, `${name}.png`) });
  expect(picture.length).toBeLessThan(250_000);
}
