// The changelog has the form that operators rely on: a section for each release, newest first, which begins with what they do.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as z from "zod";

const KINDS = ["What operators do", "Security", "Added", "Changed", "Fixed"];
const OLDEST = "Before 1.0.0";

const sections = readFileSync("CHANGELOG.md", "utf8").split(/^## /m).slice(1);
const titleOf = (section: string): string => section.split("\n", 1)[0] ?? "";
const releases = sections.filter((section) => titleOf(section) !== OLDEST);

const numberOf = (version: string): number => version.split(".").reduce((sum, part) => sum * 1000 + Number(part), 0);
const versions = releases.flatMap((section) => /^(\d+\.\d+\.\d+) \(\d{4}-\d{2}-\d{2}\)$/.exec(titleOf(section))?.[1] ?? []);

test("its sections are what is not released yet, the releases with their dates, newest first, and what was before", () => {
  const unreleased = releases.filter((section) => titleOf(section) === "Unreleased");
  expect(sections.map(titleOf).at(-1)).toBe(OLDEST);
  expect(unreleased.length + versions.length).toBe(releases.length);
  expect(unreleased).toEqual(releases.slice(0, unreleased.length));
  expect(versions).toEqual(versions.toSorted((one, other) => numberOf(other) - numberOf(one)));
});

test("the version of package.json is not one that was released before the newest", () => {
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync("package.json", "utf8")));
  expect(numberOf(version)).toBeGreaterThanOrEqual(numberOf(versions[0] ?? "0.0.0"));
});

test.each(releases.map((section) => [titleOf(section), section]))("%s lists each change under its kind", (_, section) => {
  const kinds = section.split(/^### /m);
  expect(kinds[0]).not.toMatch(/^- /m);
  const titles = kinds.slice(1).map(titleOf);
  expect(titles).toEqual(KINDS.filter((kind) => titles.includes(kind)));
  for (const kind of kinds.slice(1)) expect(kind).toMatch(/^- /m);
});

test("a release begins with what operators do, even if that is nothing", () => {
  for (const section of releases) expect(section).toContain("\n### What operators do\n\n- ");
});
