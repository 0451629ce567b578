// The bundles: all there, small, and without what was left out of them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, it } from "vitest";
import { bundle, bundledSizes, bundleFiles, ENTRIES } from "../../infra/bundle.ts";
import { STAND_INS } from "../../infra/bundle-leave-out.ts";
import { routes } from "../../shared/api/index.ts";
import { scratch } from "./stubs.ts";

const KB = 1000;
/** A third of a cold start is loading code. */
const API_FUNCTION_MAX = 290 * KB;
/** Has all of zod, the clients of S3 and of SSH, and the script of machines in it, and nobody waits for its start. */
const TASK_FUNCTION_MAX = 1000 * KB;

it("bundles every function that the tables declare", async () => {
  expect(Object.keys(await bundledSizes(inject("bundles"))).toSorted()).toEqual(Object.keys(ENTRIES).toSorted());
});

it("keeps the functions that a client waits for small", async () => {
  const sizes = await bundledSizes(inject("bundles"));
  const large = [...routes.map(({ id }) => id), "authorize", "fallback"].filter((id) => (sizes[id] ?? 0) > API_FUNCTION_MAX);
  expect(large.map((id) => `${id}: ${sizes[id]}`)).toEqual([]);
});

it("keeps the functions that nobody waits for reasonable", async () => {
  const large = Object.entries(await bundledSizes(inject("bundles"))).filter(([, bytes]) => bytes > TASK_FUNCTION_MAX);
  expect(large).toEqual([]);
});

const having = (pattern: RegExp): string[] =>
  Object.keys(ENTRIES).filter((id) => pattern.test(readFileSync(join(inject("bundles"), id, "index.mjs"), "utf8")));

it("looks for credentials in the environment only", () => {
  expect(having(/169\.254\.169\.254|sso-session|AWS_WEB_IDENTITY_TOKEN_FILE/)).toEqual([]);
});

it("gives each function its own endpoint alone, and the authorizer none", () => {
  expect(having(/"\/instances\/:id\/clone"/)).toEqual(["instances.clone"]);
});

it("loads Node's own modules without their wrapping", () => {
  expect(having(/\bfrom\s*"(node:)?(https?|crypto|fs)"/)).toEqual([]);
});

it("bundles the ones that are asked for alone", async () => {
  const sizes = await bundle(scratch(), { only: ["health.get"] });
  expect(Object.keys(sizes)).toEqual(["health.get"]);
});

it.each(STAND_INS.map(({ name }) => name))("saves something by leaving out: %s", async (name) => {
  const entry = [["auth.login", "functions/auth/login.ts"]] as const;
  const others = STAND_INS.filter((standIn) => standIn.name !== name);
  const [without, whole] = await Promise.all([bundleFiles(scratch(), entry), bundleFiles(scratch(), entry, others)]);
  expect((whole["auth.login"] ?? 0) - (without["auth.login"] ?? 0)).toBeGreaterThan(500);
});
