// Every endpoint has a test that somebody wrote for it, beside those that are generated from the route table.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../infra/built.ts";
import { everyRoute } from "../harness/requests.ts";

/** Generated, or about something else. */
const OTHERS = /^test\/(?:api|benchmark|browser|erp|figures|golden|guarantees|harness|mutation|releases|routes)\b/;

/** Their tests have the address from the response of another endpoint, or in a constant. */
const BY_ADDRESS: readonly string[] = ["auth.ssoFinish", "code.push"];

const sources = globSync("test/**/*.ts", { cwd: ROOT })
  .filter((file) => !OTHERS.test(file))
  .map((file) => readFileSync(join(ROOT, file), "utf8"));

/** A call such as `api.post(`, with the path and whatever stands for its parameters. */
function callOf({ method, path }: { method: string; path: string }): RegExp {
  const literals = path.replaceAll(".", String.raw`\.`).split(/:\w+/);
  const parameter = String.raw`(?:\$\{[^\`"]*?\}|[\w%-]+)`;
  return new RegExp(`\\.${method.toLowerCase()}\\(\\s*[\`"]${literals.join(parameter)}(?:\\?[^\`"]*)?[\`"]`);
}

test("a test of its own calls every endpoint", () => {
  const uncalled = everyRoute.filter((route) => !sources.some((source) => callOf(route).test(source)));
  const sentence = "each needs a test such as test/servers/create.test.ts";
  expect(uncalled.map(({ id }) => id).toSorted(), sentence).toEqual(BY_ADDRESS);
});
