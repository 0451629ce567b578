// The sentences that have a code: each is in every language, with the same parameters, and none that the service can say lacks
// one.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { reasons } from "../dashboard/src/messages/de/reasons.ts";
import { reasons as englishReasons } from "../dashboard/src/messages/en/reasons.ts";
import { problems } from "../dashboard/src/messages/de/problems.ts";
import { sentences } from "../dashboard/src/messages/de/sentences.ts";
import { steps } from "../dashboard/src/messages/en/steps.ts";
import { workflows } from "../functions/workflows/index.ts";
import { ROOT } from "../infra/built.ts";
import { shownReason, statusReason } from "../shared/records/reasons.ts";
import { recognizeProblem, PROBLEMS } from "../shared/domain/problems.ts";
import { fillWithParts } from "../shared/domain/parts.ts";
import { because, inEnglish, type Reason, reasonIn, REASONS } from "../shared/domain/reasons.ts";
import { english, SENTENCES } from "../shared/domain/sentences.ts";
import { words } from "../dashboard/src/messages/de/problems.ts";
import * as errors from "../shared/api/errors.ts";
import { ERRORS } from "../shared/api/errors.ts";
import { routes } from "../shared/api/index.ts";
import { BACKUP_STATUSES, INSTANCE_ACTIONS, INSTANCE_STATUSES } from "../shared/domain/lifecycle.ts";
import { DEFAULT_QUOTAS, type QuotaKind } from "../shared/domain/limits.ts";

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
  expect(
    Object.entries(german).filter(
      ([code, template]) => template === words[code] && /\w/.test(template.replaceAll(/\\?\{\w+\}/g, "")),
    ),
  ).toEqual([]);
});

test("the dashboard names its own choice where the API names a field", () => {
  const text = Object.values(englishReasons).join();
  expect(text).not.toMatch(/\bset \w+ to\b/);
  expect(text).toContain("To deploy all the same, turn off “Rehearse first”");
  expect(Object.values(reasons).join()).toContain("„Vorher proben“");
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

const nestedReason = because("provider_said", {
  why: because("provider_error", { provider: "Hetzner", status: 500 }),
  provider: "Hetzner",
  message: "not today",
});

test("a reason has the values of its sentence, and those of the reason in it", () => {
  expect(nestedReason).toEqual({
    code: "provider_said",
    parameters: {
      why: "Hetzner returned an error (500)",
      why_code: "provider_error",
      provider: "Hetzner",
      status: "500",
      message: "not today",
    },
  });
  expect(inEnglish(nestedReason)).toBe("Hetzner returned an error (500). Hetzner says: not today");
});

/** Returns a reason as the dashboard says it, in English. */
const filled = ({ code, parameters }: Reason): string => {
  const templates: Readonly<Record<string, string>> = REASONS;
  const templateOf = (each: string | number | undefined) => (each === undefined ? undefined : templates[each]);
  return fillWithParts(templates[code] ?? "", parameters, { templateOf, show: String });
};

test("a reason in a reason in a reason has its own values, and is said with these", () => {
  const twice = because("backup_unusable", { why: because("archive_twice", { name: "dump.sql" }) });
  const reported = because("machine_reports", { why: twice, log: "+ unzip" });
  expect(reported.parameters).toMatchObject({
    why_code: "backup_unusable",
    why_why_code: "archive_twice",
    name: "dump.sql",
    log: "+ unzip",
  });
  const undone = because("undo_failed", { why: reported });
  for (const reason of [twice, reported, undone, because("undo_failed", { why: undone }), nestedReason])
    expect(filled(reason)).toBe(inEnglish(reason));
  const found = reasonIn(inEnglish(reported));
  expect(found && filled(found)).toBe(inEnglish(reported));
});

test("a reason whose part lost its own values is said once", () => {
  const parameters = { why: "The cause", why_code: "backup_unusable" };
  expect(filled({ code: "backup_unusable", parameters })).toContain("The cause");
});

test("the reason in a sentence of an earlier version, or of a machine, is found with the same values", () => {
  expect(reasonIn(inEnglish(nestedReason))).toEqual(nestedReason);
  expect(reasonIn("The backup's archive cannot be used: it contains dump.sql twice")).toEqual(
    because("backup_unusable", { why: because("archive_twice", { name: "dump.sql" }) }),
  );
  expect(reasonIn("The ERP does not stop\n+ docker stop erp\nError")).toEqual(
    because("machine_reports", { why: because("erp_does_not_stop"), log: "+ docker stop erp\nError" }),
  );
  expect(reasonIn("Whatever somebody wrote")).toBeNull();
  expect(reasonIn("The cat stopped")).toBeNull();
});

test("a record shows the reason that it was stored with, unless an earlier version has replaced its sentence", () => {
  const stored = statusReason(nestedReason);
  expect(shownReason(stored)).toMatchObject(nestedReason);
  expect(shownReason({ ...stored, status_reason: "The machine no longer exists at the provider" })).toEqual(
    because("machine_gone"),
  );
  expect(shownReason({ ...stored, status_reason: "Of another time" })).toBeNull();
  expect(shownReason({ ...stored, status_reason: null })).toBeNull();
  const ofNewer = {
    status_reason: "The machine melted",
    reason: { code: "molten", parameters: {}, sentence: "The machine melted" },
  };
  expect(shownReason(ofNewer)).toMatchObject({ code: "molten", parameters: {} });
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
  VALUES.some((value) => reasonIn(template.replaceAll(hole, value).replaceAll(String.raw`\n`, "\n")) !== null);

const sourcesOf = (pattern: string): string =>
  globSync(pattern, { cwd: ROOT })
    .map((file) => readFileSync(join(ROOT, file), "utf8"))
    .join("\n");
const foundIn = (source: string, pattern: RegExp): string[] => [...source.matchAll(pattern)].map(([, text = ""]) => text);

test("each sentence that a machine reports has a code", () => {
  const shell = sourcesOf("shared/hosts/script/*.sh");
  const pattern =
    /(?:\bbroken|\bcorrupt|\burl_rejected|\bfiles_failed|\bunusable "[^"]*"|\bfail [A-Z_]+|\bcheck \w+ (?:true|false|null)) "((?:\$\([^)]*\)|[^"])+)"/g;
  const ofShell = foundIn(shell, pattern).filter((text) => !/^\$\(reported|^\$\{?\w+(?::-\$1\})?$/.test(text));
  const python = sourcesOf("shared/hosts/script/files/*.py");
  const ofPython = foundIn(python, /(?:Failure|Unusable)\(f?"((?:\{[^}]*\}|[^"])+)"\)/g);
  expect(ofShell.length).toBeGreaterThan(60);
  expect(ofPython.length).toBeGreaterThan(5);
  const hole = /\$\([^)]*\)|\$\{[^}]*\}|\$\w+|\$[*@]|\{[^}]*\}/g;
  expect([...ofShell, ...ofPython].filter((sentence) => !isKnown(sentence, hole))).toEqual([]);
  const rooms = foundIn(shell, /\brequire_room .* "([A-Z][^"]*)"/g);
  expect(rooms.length).toBeGreaterThan(5);
  const lacking = (subject: string): string => `${subject} needs 2 MB and a reserve of 3 MB, but the server's disk has 1 MB free`;
  expect(rooms.filter((subject) => reasonIn(lacking(subject)) === null)).toEqual([]);
});

test("each error of a response, and what the forms' schemas find wrong, has words in every language", () => {
  const messages = Object.values(ERRORS).map(({ message }) => message);
  // What only programs get wrong, and parts of code.
  const exempt = [
    /JSON/,
    /^(?:This path|The request body|Send requests to)/,
    /Content-Encoding/,
    /takes no body/,
    /^\S+$/,
    /\($|\? $/,
    /printable ASCII|event's type|^must be (?:the )?(?:id|IDs?) of|SHA-256|must not be repeated/,
    /ERP cannot accept data|A server has the machine/, // the sandbox's own endpoint, and the operator's commands
  ];
  const source = sourcesOf("{shared/{api,operations,providers,records,runtime,storage},functions}/**/*.ts");
  const sourceMessages = foundIn(
    source,
    /\b(?:conflict|invalidState|new ApiError)\(\s*(?:"[A-Z_]+",\s*)?["`]([A-Z][^"`]{15,})["`]/g,
  );
  const reasonsOfFields = foundIn(
    `${source}${sourcesOf("shared/{domain/{schedule,canonical,database-name,internal-names,international},platform/outbound}.ts")}`,
    /(?:\breject\(|\breason: |=\s+)?["`]((?:must|does|is not|is incomplete|no \$\{)[^"`\n]* [^"`\n]+)["`]/g,
  );
  const templates = [...messages, ...sourceMessages, ...reasonsOfFields].filter(
    (each) => !exempt.some((pattern) => pattern.test(each)),
  );
  const unknown = templates.filter((each) => recognizeProblem(each.replaceAll(/\$\{(?:[^{}]|\{[^}]*\})*\}/g, "7")) === null);
  expect(unknown).toEqual([]);
});

/** Errors whose sentences depend on what they are given. */
const quotas = Object.keys(DEFAULT_QUOTAS).filter((kind): kind is QuotaKind => kind in DEFAULT_QUOTAS);
const conditional = [
  ...quotas.flatMap((kind) => [errors.overQuota(kind, 1), errors.overQuota(kind, 20)]),
  ...[1_000, 5e9, 2e12].map((limit) => errors.overQuota("backup_bytes", limit)),
  errors.tooManyRepositories(1),
  errors.tooManyRepositories(20),
  errors.hasInstances(1),
  errors.hasInstances(2),
  errors.uploadIncomplete([1]),
  errors.uploadIncomplete([1, 2]),
  ...(["creating", "ready", "unreachable", "deleting"] as const).map((phase) => errors.serverBusy(phase)),
  ...INSTANCE_ACTIONS.map((action) => errors.actionNotAllowed(action, "stopped")),
  ...INSTANCE_STATUSES.map((status) => errors.actionNotAllowed("start", status)),
  ...BACKUP_STATUSES.map((status) => errors.backupNotCompleted(status)),
];
const declared = routes.flatMap(({ errors: ofRoute }) => ofRoute());
const all = [...declared, ...conditional];

test("each error that a route declares has words in every language, also for a credential that may read less", () => {
  const sentences = all.flatMap((error) => [errors.mainProblem(error).recognizable, error.about?.otherwise ?? []].flat());
  expect(sentences.length).toBeGreaterThan(100);
  expect([...new Set(sentences)].filter((sentence) => recognizeProblem(sentence) === null)).toEqual([]);
});

test("what an error names has a German word", () => {
  const source = sourcesOf("{shared,functions}/**/*.ts");
  const resources = foundIn(source, /\b(?:notFound\(|no(?:neInAccount|Such)\("\w+", )"([^"]+)"/g);
  expect(resources.length).toBeGreaterThan(30);
  const messages = [...all.map(({ message }) => message), ...resources.map((each) => errors.notFound(each).message)];
  const usedWords = messages.flatMap((sentence) => {
    const { resource, status, phase, field, action } = recognizeProblem(sentence)?.parameters ?? {};
    return [resource, status, phase, field, action].flatMap((each) => each ?? []);
  });
  expect([...new Set(usedWords)].filter((word) => !(word in words))).toEqual([]);
});
