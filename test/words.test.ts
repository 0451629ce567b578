// One word for one idea: words that the glossary in CONTRIBUTING.md rules out, and those that plain English replaced, do not come
// back.
import { existsSync, globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openapiDocument } from "../shared/api/openapi/describe.ts";

/** What to write instead of a word, wherever a person reads. */
const LOST: readonly (readonly [RegExp, string])[] = [
  [/(?<!-)\bcatalogues?\b/i, "catalog"],
  [/\be-mails?\b/i, "email"],
  [/\b(?:un)?answer(?:s|ed|ing)?\b/i, "response, respond"],
  [/\brefus(?:e|es|ed|ing|als?)\b/i, "reject, error"],
  [/\bcomplain(?:s|ed|ts?)?\b/i, "error"],
  [/\bshall\b/i, "must, should"],
  [/\bpieces? of (?:long )?work\b/i, "operation"],
  [/\bunder way\b/i, "in progress"],
  [/\blog-?(?:in|out)s? (?:page|form|again)\b|\blog-(?:ins?|outs?)\b/i, "sign in, sign out"],
  [/\bwhose time is over\b/i, "expired"],
  [/\bhonou?red\b/i, "supported"],
  [/\blower-case\b/i, "lowercase"],
];

const lostIn = (text: string): string[] =>
  text.split("\n").flatMap((line) => LOST.flatMap(([word, instead]) => (word.test(line) ? [`${line.trim()} → ${instead}`] : [])));

/** Code in a text is not prose: fenced blocks, and names in backticks. Nor is what the glossary rules out. */
const proseOf = (markdown: string): string =>
  markdown
    .replace(/^```[^]*?^```/gm, "")
    .replace(/`[^`\n]*`/g, "")
    .replace(/^\| Word +\|[^]*/m, "");

const contributing = readFileSync("CONTRIBUTING.md", "utf8");
const glossary = [...contributing.slice(contributing.indexOf("## Words")).matchAll(/^\| (.+?) +\| (.+?) +\| (.*?) *\|$/gm)]
  .map(([, word = "", , lost = ""]) => ({ word, lost: lost.split(", ").filter((each) => each !== "") }))
  .slice(1)
  .filter(({ word }) => !word.startsWith("--"));

test("the glossary has at most 30 words, and rules out only words that this file looks for", () => {
  expect(glossary.length).toBeGreaterThan(20);
  expect(glossary.length).toBeLessThanOrEqual(30);
  const unknown = glossary.flatMap(({ lost }) => lost).filter((word) => lostIn(word).length === 0);
  expect(unknown).toEqual([]);
});

test.each(globSync(["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md"]))(
  "%s uses no word that the glossary rules out",
  (file) => {
    expect(lostIn(proseOf(readFileSync(file, "utf8")))).toEqual([]);
  },
);

test("the API description uses no word that the glossary rules out", () => {
  const texts: string[] = [];
  JSON.stringify([openapiDocument("live"), openapiDocument("test")], (key, value: unknown) => {
    if (["summary", "description", "message", "reason"].includes(key) && typeof value === "string") texts.push(proseOf(value));
    return value;
  });
  expect(texts.length).toBeGreaterThan(500);
  expect(lostIn(texts.join("\n"))).toEqual([]);
});

/** Strings and text of elements, without comments, identifiers, imports and classes. */
const stringsOf = (code: string): string =>
  code
    .split("\n")
    .filter((line) => !/^\s*(?:\/\/|\/?\*|import\b|export \* )/.test(line))
    .flatMap((line) => [...line.matchAll(/"([^"]+)"|`([^`]+)`|<[A-Za-z][^<>{}=]*>([^<>{}=]+)<\/|^\s*([A-Z][^<>{}=;]+)$/g)])
    .map(([, quoted, template, element, text]) => (quoted ?? template ?? element ?? text ?? "").replace(/\$\{[^}]*\}/g, ""))
    .filter((text) => / [A-Za-z]/.test(text) && !/[(:,] *$|^[(:,]/.test(text))
    .join("\n");

test("the dashboard and the API page use no word that the glossary rules out", () => {
  // German has words of its own, some of which look like those.
  const files = globSync(["dashboard/src/**/*.{ts,tsx}", "infra/local/pages/*.ts"], {
    exclude: ["dashboard/src/messages/de/**"],
  });
  expect(files.length).toBeGreaterThan(100);
  expect(files).toContain("dashboard/src/messages/en/settings.ts");
  const text = files.map((file) => stringsOf(readFileSync(file, "utf8"))).join("\n");
  expect(text).toContain("Create instance");
  expect([
    ...lostIn(text),
    ...(text.match(/.*\blog(?:s|ged)? (?:you )?(?:in|out)\b(?! (?:to your servers )?over SSH).*/gi) ?? []),
  ]).toEqual([]);
});

test("errors, steps and log lines use no word that the glossary rules out", () => {
  const files = globSync(["functions/**/*.ts", "shared/**/*.ts", "infra/*.ts", "infra/local/*.ts"], {
    exclude: ["shared/mail/de.ts"],
  });
  const text = files.map((file) => stringsOf(readFileSync(file, "utf8"))).join("\n");
  expect(text).toContain("Restoring the backup");
  expect(lostIn(text)).toEqual([]);
});

test("every path that the documentation names exists", () => {
  const missingPaths = globSync(["*.md", "docs/*.md"]).flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/`((?:shared|functions|infra|dashboard|test|docs)\/[^`<* ]*)`/g)]
      .filter(([, path = ""]) => !existsSync(path))
      .map(([, path = ""]) => `${file}: ${path}`),
  );
  expect(missingPaths).toEqual([]);
});
