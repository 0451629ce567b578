// The bundles: complete, small, and without the parts that are left out.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, inject, it } from "vitest";
import { bundle, bundledSizes, bundleFiles, ENTRIES } from "../../infra/bundle.ts";
import { STAND_INS } from "../../infra/bundle-leave-out.ts";
import { type Route, routes } from "../../shared/api/index.ts";
import { hasGrown, knownSizes } from "../golden/bundles.ts";
import { nextRun, scheduleProblem } from "../../shared/domain/schedule.ts";
import { scratch } from "./stubs.ts";

const KB = 1000;
/**
 * Loading code takes a third of a cold start. Lists contain what searches them, instances their certificates, all of these their reasons, a policy
 * the parser of schedules.
 */
const READ_MAX = 260 * KB;
/**
 * Contains what writing needs: idempotency, sealing, Step Functions, what dry runs show, reasons (25 KB), search entries and the overview (4 KB);
 * of creations, also what they need of a backup and of redirected domains, and of policies the parser of schedules.
 */
const WRITE_MAX = 315 * KB;
/** Contains all of zod, the clients of S3 and SSH, and the machine's script with its report and what it knows of SQL; nobody waits for its start. */
const TASK_FUNCTION_MAX = 1215 * KB;

it("every function that the tables declare is bundled", async () => {
  expect(Object.keys(await bundledSizes(inject("bundles"))).toSorted()).toEqual(Object.keys(ENTRIES).toSorted());
});

it("the bundles of functions that a client waits for are small", async () => {
  const sizes = await bundledSizes(inject("bundles"));
  const limits = new Map(routes.map(({ id, method, writes }) => [id, method === "GET" && !writes ? READ_MAX : WRITE_MAX]));
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

it("only a function that gets methods which its path lacks, and the authorizer, contain the table of all routes", () => {
  const ids = routes.filter(({ method }) => method === "GET").map(({ id }) => id);
  expect(having(/resource:"\/api\/v1\/servers\/\{id\}"/)).toEqual([...ids, "authorize", "fallback"]);
});

it("bundles load Node's own modules without a wrapper", () => {
  expect(having(/\bfrom\s*"(node:)?(https?|crypto|fs)"/)).toEqual([]);
});

it("a list of names bundles only those functions", async () => {
  const sizes = await bundle(scratch(), { only: ["health.get"] });
  expect(Object.keys(sizes)).toEqual(["health.get"]);
});

/** A function that would contain what is left out, where not all would. */
const IN_SOME: Readonly<Record<string, string>> = {
  "event streams of S3": "tasks.create-backup",
  "passphrases of SSH keys": "schedules.check-servers",
  "jobs and past times of schedules": "backupPolicy.update",
};

it.each(STAND_INS.map(({ name }) => name))("leaving out %s makes a bundle smaller", async (name) => {
  const id = IN_SOME[name] ?? "auth.login";
  const others = STAND_INS.filter((standIn) => standIn.name !== name);
  const [without, whole] = await Promise.all([
    bundledSizes(inject("bundles")),
    bundleFiles(scratch(), [[id, ENTRIES[id] ?? ""]], others),
  ]);
  expect((whole[id] ?? 0) - (without[id] ?? 0)).toBeGreaterThan(500);
});

it("without what is left out of them, schedules have the same times and errors", async () => {
  const folder = scratch();
  await bundleFiles(folder, [["schedule", "shared/domain/schedule.ts"]]);
  const bundled: typeof import("../../shared/domain/schedule.ts") = await import(
    pathToFileURL(join(folder, "schedule", "index.mjs")).href
  );
  for (const schedule of [
    "0 2 * * *",
    "30 4 31 * *",
    "15 3 29 2 *",
    "0 0 * * MON-FRI",
    "5 */6 1,15 1-6/2 0",
    "0 0 31 2 *",
    "61 * * * *",
  ]) {
    const problem = scheduleProblem(schedule);
    expect(bundled.scheduleProblem(schedule), schedule).toBe(problem);
    if (problem !== undefined) continue;
    const policy = { schedule, timezone: "Europe/Berlin" };
    expect(bundled.nextRun(policy, 1_790_000_000_000), schedule).toBe(nextRun(policy, 1_790_000_000_000));
  }
});
