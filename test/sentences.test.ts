// The sentences that have a code: each is in every language, with the same parameters, and none that the service can say lacks one.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { reasons } from "../dashboard/src/messages/de/reasons.ts";
import { problems } from "../dashboard/src/messages/de/problems.ts";
import { sentences } from "../dashboard/src/messages/de/sentences.ts";
import { steps } from "../dashboard/src/messages/en/steps.ts";
import { workflows } from "../functions/workflows/index.ts";
import { ROOT } from "../infra/built.ts";
import { problemOf, PROBLEMS } from "../shared/domain/problems.ts";
import { reasonOf, REASONS } from "../shared/domain/reasons.ts";
import { english, SENTENCES } from "../shared/domain/sentences.ts";
import { ERRORS } from "../shared/api/errors.ts";
import { ARCHIVE_RULES } from "../shared/hosts/archive-rules.ts";

const parametersIn = (template: string): string[] => [...template.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name).toSorted();

test.each([
  ["dry runs", sentences, SENTENCES],
  ["reasons", reasons, REASONS],
  ["problems", problems, PROBLEMS],
])("German has each code of %s, with the same parameters, and says it in German", (_, german, templates) => {
  const of = (all: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(all).map(([code, template]) => [code, parametersIn(template)]));
  expect(of(german)).toEqual(of(templates));
  const words: Readonly<Record<string, string>> = templates;
  expect(Object.entries(german).filter(([code, template]) => template === words[code])).toEqual([]);
});

test.each([
  [0, "0.0 GB"],
  [4_200, "4.2 KB"],
  [49_900_000, "49.9 MB"],
  [50_000_000, "0.1 GB"],
  [1_500_000_000, "1.5 GB"],
])("an English sentence shows %i bytes as %s", (free_bytes, size) => {
  const parameters = { server_name: "erp-1", free_bytes, reported_at: "2026-11-20T12:00:00.000Z" };
  expect(english({ code: "disk_low", parameters })).toContain(`server erp-1 reported ${size} free at 2026`);
});

test("the dashboard has words for each step of each workflow, in English the same", () => {
  const labels = Object.values(workflows).flatMap(({ steps: all }) => all.map(({ name, label }) => [name, label] as const));
  expect(steps).toEqual({ ...Object.fromEntries(labels), undo: "Undoing the changes" });
});

test("a reason is found with its parameters, and those of the sentence in it", () => {
  expect(reasonOf("The backup's archive cannot be used: it contains dump.sql twice")).toEqual({
    code: "backup_unusable",
    parameters: { why: "it contains dump.sql twice", why_code: "archive_twice", name: "dump.sql" },
  });
  expect(reasonOf("Hetzner returned an error (500). Hetzner says: not today")).toEqual({
    code: "provider_said",
    parameters: {
      why: "Hetzner returned an error (500)",
      why_code: "provider_error",
      provider: "Hetzner",
      status: "500",
      message: "not today",
    },
  });
  expect(reasonOf("Whatever somebody wrote")).toBeNull();
  expect(reasonOf("The cat stopped")).toBeNull();
});

/** A value in a sentence, and the sentences that some have in them. */
const VALUES = [
  "7",
  "it is damaged",
  "An ERP",
  "the server's disk is full",
  "The throwaway ERP",
  "The machine no longer exists at the provider",
  "does not respond",
  "a link",
];
const isKnown = (template: string, hole: RegExp): boolean =>
  VALUES.some((value) => reasonOf(template.replaceAll(hole, value).replaceAll(String.raw`\n`, "\n")) !== null);

const sourcesOf = (pattern: string): string =>
  globSync(pattern, { cwd: ROOT })
    .map((file) => readFileSync(join(ROOT, file), "utf8"))
    .join("\n");
const foundIn = (source: string, pattern: RegExp): string[] => [...source.matchAll(pattern)].map(([, text = ""]) => text);

test("each sentence that a task fails with has a code", () => {
  const source = sourcesOf("{shared,functions}/**/*.ts");
  const literal = /new (?:GiveUp|TryAgain|NotYet|RetryLater)\(\s*"[A-Z_]+",\s*(?:says\(\s*)?["`]((?:\$\{[^}]*\}|[^"`])+)["`]/g;
  const found = foundIn(source, literal).filter((text) => !text.endsWith("${NOT_REACHED}")); // a reason of its own, with a remedy
  expect(found.length).toBeGreaterThan(40);
  expect(found.filter((sentence) => !isKnown(sentence, /\$\{[^}]*\}/g))).toEqual([]);
});

test("each sentence that a machine reports has a code", () => {
  const shell = sourcesOf("shared/hosts/script/*.sh");
  const said =
    /(?:\bbroken|\bcorrupt|\burl_rejected|\bfiles_failed|\bunusable "[^"]*"|\bfail [A-Z_]+|\bcheck \w+ (?:true|false|null)) "((?:\$\([^)]*\)|[^"])+)"/g;
  const ofShell = foundIn(shell, said).filter((text) => !/^\$\(reported|^\$\{?\w+(?::-\$1\})?$/.test(text));
  const python = sourcesOf("shared/hosts/script/files/*.py");
  const ofPython = foundIn(python, /(?:Failure|Unusable)\(f?"((?:\{[^}]*\}|[^"])+)"\)/g);
  expect(ofShell.length).toBeGreaterThan(60);
  expect(ofPython.length).toBeGreaterThan(5);
  const hole = /\$\([^)]*\)|\$\{[^}]*\}|\$\w+|\$[*@]|\{[^}]*\}/g;
  expect([...ofShell, ...ofPython].filter((sentence) => !isKnown(sentence, hole))).toEqual([]);
});

test("each sentence about an archive has a code, whatever it is instead", () => {
  const { kinds, inside, sentences: templates } = ARCHIVE_RULES;
  const fill = (template: string, values: Record<string, string>): string =>
    template.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "7");
  const [kind] = kinds;
  const said = [
    ...kinds.flatMap(({ is, advice }) =>
      [templates.kind, templates.inGzip, templates.dump].map((each) => fill(each, { is, advice })),
    ),
    ...inside.map(({ says }) => fill(says, {})),
    ...Object.entries(templates).flatMap(([name, each]) =>
      name === "unknownMethod" ? [] : [fill(each, { is: kind?.is ?? "", advice: kind?.advice ?? "" })],
    ),
  ];
  expect(said.filter((sentence) => reasonOf(`The uploaded archive cannot be used: ${sentence}`) === null)).toEqual([]);
});

test("each error of a response, and what the forms' schemas find wrong, has words in every language", () => {
  const messages = Object.values(ERRORS).map(({ message }) => message);
  const exempt = [/JSON$/, /^This path/, /^The request body/, /Content-Encoding/, /takes no body/, /^\S+$/, /\($|\? $/]; // of programs, and parts of code
  const source = readFileSync(join(ROOT, "shared/api/errors.ts"), "utf8");
  const said = foundIn(source, /(?:conflict|invalidState|new ApiError)\(\s*(?:"[A-Z_]+",\s*)?["`]([A-Z][^"`]{15,})["`]/g);
  const reasonsOfFields = foundIn(
    sourcesOf("shared/api/{fields,instances,servers,backups,tokens,backup-policy,settings}.ts"),
    /["`](must (?:be|have|not|contain|keep|match|run)[^"`]+)["`]/g,
  );
  const templates = [...messages, ...said, ...reasonsOfFields].filter((each) => !exempt.some((pattern) => pattern.test(each)));
  const unknown = templates.filter((each) => problemOf(each.replaceAll(/\$\{(?:[^{}]|\{[^}]*\})*\}/g, "7")) === null);
  expect(unknown).toEqual([]);
});
