// The bundles: complete, small, and without the parts that are left out.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, it } from "vitest";
import { bundle, bundledSizes, bundleFiles, ENTRIES } from "../../infra/bundle.ts";
import { STAND_INS } from "../../infra/bundle-leave-out.ts";
import { type Route, routes } from "../../shared/api/index.ts";
import { hasGrown, knownSizes } from "../golden/bundles.ts";
import { scratch } from "./stubs.ts";

const KB = 1000;
/** Loading code takes a third of a cold start. Lists contain what searches them, instances their certificates. */
const READ_MAX = 240 * KB;
/**
 * Contains what writing needs: idempotency, sealing, Step Functions, what dry runs show, search entries and the overview (4 KB); of creations, also
 * what they need of a backup.
 */
const WRITE_MAX = 288 * KB;
/** Contains the parser of schedules, too. */
const POLICY_MAX = 295 * KB;
const WITH_POLICIES = ["backupPolicy.update", "settings.update"];
/** Contains all of zod, the clients of S3 and SSH, and the machine's script with its report; nobody waits for its start. */
const TASK_FUNCTION_MAX = 1055 * KB;

it("every function that the tables declare is bundled", async () => {
  expect(Object.keys(await bundledSizes(inject("bundles"))).toSorted()).toEqual(Object.keys(ENTRIES).toSorted());
});

it("the bundles of functions that a client waits for are small", async () => {
  const sizes = await bundledSizes(inject("bundles"));
  const limits = new Map(
    routes.map(({ id, method, writes }) => [
      id,
      method === "GET" && !writes ? READ_MAX : WITH_POLICIES.includes(id) ? POLICY_MAX : WRITE_MAX,
    ]),
  );
  for (const id of ["authorize", "fallback"]) limits.set(id, READ_MAX);
  const large = [...limits].filter(([id, max]) => (sizes[id] ?? 0) > max);
  expect(large.map(([id]) => `${id}: ${sizes[id]}`)).toEqual([]);
});

it("no bundle has grown by 2 %", async () => {
  const known = knownSizes();
  const grown = Object.entries(await bundledSizes(inject("bundles"))).filter(([id, bytes]) => hasGrown(known[id] ?? 0, bytes));
  expect(
    grown.map(([id, bytes]) => `${id}: ${known[id]} → ${bytes}`),
    "if that is meant, run `npm run golden`",
  ).toEqual([]);
});

it("the bundles of functions that nobody waits for have a reasonable size", async () => {
  const large = Object.entries(await bundledSizes(inject("bundles"))).filter(([, bytes]) => bytes > TASK_FUNCTION_MAX);
  expect(large).toEqual([]);
});

const having = (pattern: RegExp): string[] =>
  Object.keys(ENTRIES).filter((id) => pattern.test(readFileSync(join(inject("bundles"), id, "index.mjs"), "utf8")));

it("bundled functions look for credentials in the environment only", () => {
  expect(having(/169\.254\.169\.254|sso-session|AWS_WEB_IDENTITY_TOKEN_FILE/)).toEqual([]);
});

it("each bundle has its own endpoint only, and the authorizer's bundle has none", () => {
  expect(having(/"\/instances\/:id\/clone"/)).toEqual(["instances.clone"]);
});

it("only a function whose requests have a body contains the parser of bodies, and only one with stored responses these", () => {
  const idsOf = (wanted: (route: Route) => boolean): string[] => routes.filter(wanted).map(({ id }) => id);
  expect(having(/The request body is nested deeper/)).toEqual(idsOf(({ body }) => body !== undefined));
  expect(having(/must be 1 to 255 printable ASCII characters/)).toEqual(idsOf(({ idempotent }) => idempotent));
});

it("bundles load Node's own modules without a wrapper", () => {
  expect(having(/\bfrom\s*"(node:)?(https?|crypto|fs)"/)).toEqual([]);
});

it("a list of names bundles only those functions", async () => {
  const sizes = await bundle(scratch(), { only: ["health.get"] });
  expect(Object.keys(sizes)).toEqual(["health.get"]);
});

it.each(STAND_INS.map(({ name }) => name))("leaving out %s makes a bundle smaller", async (name) => {
  const id = name.includes("SSH") ? "schedules.check-servers" : "auth.login";
  const entry = [[id, ENTRIES[id] ?? ""]] as const;
  const others = STAND_INS.filter((standIn) => standIn.name !== name);
  const [without, whole] = await Promise.all([bundleFiles(scratch(), entry), bundleFiles(scratch(), entry, others)]);
  expect((whole[id] ?? 0) - (without[id] ?? 0)).toBeGreaterThan(500);
});
