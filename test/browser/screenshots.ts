// Takes a picture of every page, light and dark, on a desktop and on a phone: `npm run screenshots`.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect } from "vitest";
import { ROOT } from "../../infra/built.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { test } from "./browser.ts";
import { furnish, isShown, LOGIN, PAGES, pathOf, type Shown, type Things } from "./pages.ts";

const FOLDER = join(ROOT, "docs", "screenshots");

const LOOKS = ["light", "dark"].flatMap((mode) => ["desktop", "phone"].map((device) => ({ mode, device })));

let mine: TestAccount;
let things: Things;
beforeAll(async () => {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  mine = await account();
  things = await furnish(mine);
});

/** `/servers/:id` is `server`, `/servers/create` is `servers-create`. */
function nameOf({ route }: Shown): string {
  if (route === "/") return "home";
  return route
    .slice(1)
    .replaceAll(/s\/:id/g, "")
    .replaceAll("/", "-");
}

/** Every page except "Page not found". */
const SHOWN = [LOGIN, ...PAGES.filter(({ route }) => route !== "*")];

test.for(SHOWN.flatMap((shown) => LOOKS.map((look) => ({ shown, look, name: nameOf(shown) }))))(
  "$name $look.mode $look.device",
  async ({ shown, look: { mode, device }, name }, { open }) => {
    const as = shown === LOGIN ? {} : { as: mine };
    const page = await open(pathOf(shown, things), { ...as, dark: mode === "dark", phone: device === "phone" });
    await isShown(page, shown);
    const path = join(FOLDER, `${name}-${mode}-${device}.png`);
    const picture = await page.screenshot({ path });
    expect(picture.length).toBeLessThan(200_000);
  },
);
