// The dashboard's words are all in its catalog, where a translator finds them, in every language.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { parseSync } from "vite";
import { ROOT } from "../infra/built.ts";

const MESSAGES = "dashboard/src/messages";

/** The same in both languages: names, units, and words that German has from English. */
const SAME: readonly string[] = [
  "alerts.status",
  "home.needs.actOn",
  "app.environment.test",
  "reasons.machine_reports",
  "resource.reasons.machine_reports",
  "events.fields.domain",
  "home.needs.offline",
  "home.worst.milliseconds",
  "events.fields.labels",
  "events.fields.name",
  "events.fields.passkey",
  "events.fields.status",
  "events.fields.url",
  "app.product",
  "app.words.offline",
  "words.offline",
  "app.span.hours",
  "app.span.minutes",
  "app.span.seconds",
  "app.testTitle",
  "backups.columns.id",
  "backups.columns.labels",
  "backups.columns.status",
  "bulk.columns.resource",
  "code.title",
  "backupDialogs.details.id",
  "backupDialogs.details.labels",
  "backupDialogs.details.status",
  "backupDialogs.details.version",
  "backupDialogs.drill.server",
  "instances.copied.id",
  "instances.create.editions.community.label",
  "instances.create.editions.enterprise.label",
  "instances.create.odoo",
  "instances.dns.name",
  "instances.facts.title",
  "instances.fields.domain",
  "instances.fields.edition",
  "instances.fields.id",
  "instances.fields.name",
  "instances.fields.server",
  "instances.fields.status",
  "instances.fields.url",
  "instances.fields.version",
  "instances.tabs.code",
  "logs.sources.erp",
  "metrics.series.erp_cpu_percent",
  "metrics.series.erp_memory_bytes",
  "metrics.units.milliseconds",
  "metrics.units.perSecond",
  "operations.columns.status",
  "operations.leftOutKind", // of a kind that this version does not know
  "operations.work.backup.import.name",
  "people.columns.name",
  "policies.form.keepAbout",
  "policies.protection.status",
  "resource.find.sorts.name-desc",
  "resource.find.saved.name",
  "resource.find.sorts.name",
  "resource.form.optional",
  "resource.help.info",
  "resource.labels.title",
  "resource.statuses.server.offline",
  "resource.time.exact",
  "resource.time.utc",
  ...[1, 2, 3, 4].map((power) => `resource.units.${power}`),
  "servers.detail.title",
  "servers.fields.id",
  "servers.fields.labels",
  "servers.fields.name",
  "servers.fields.region",
  "servers.fields.status",
  "servers.instances.domain",
  "servers.instances.name",
  "servers.instances.status",
  "servers.instances.version",
  "servers.one",
  "settings.factors.types.passkey",
  "settings.preferences.utc",
  "settings.quotas.webhooks",
  "settings.session.name",
  "shell.about.commit",
  "shell.about.version",
  "shell.navigation.webhooks",
  "sshKeys.columns.name",
  "sshKeys.form.name",
  "start.loading.after",
  "tokens.columns.name",
  "tokens.create.name",
  "uploads.server.label",
  "webhooks.columns.name",
  "webhooks.columns.status",
  "webhooks.columns.url",
  "webhooks.create.format",
  "webhooks.create.name",
  "webhooks.create.url",
  "webhooks.deliveries.http",
  "webhooks.deliveries.status",
  "webhooks.detail.format",
  "webhooks.detail.id",
  "webhooks.one",
  "webhooks.statuses.ok",
  "webhooks.title",
];

type Message = string | ((...parts: never[]) => unknown);

/** The messages of a catalog by their places: "settings.quotas.title". */
function messagesIn(catalog: unknown, place = ""): [string, Message][] {
  if (typeof catalog === "string") return [[place, catalog]];
  if (isFunction(catalog)) return [[place, catalog]];
  if (typeof catalog !== "object" || catalog === null) throw new Error(`${place} is no message`);
  return Object.entries(catalog).flatMap(([name, each]) => messagesIn(each, place === "" ? name : `${place}.${name}`));
}

const isFunction = (value: unknown): value is (...parts: never[]) => unknown => typeof value === "function";

/**
 * The compiler checks that all languages have the same messages. Their files are not the tests' to compile: some have elements in
 * them.
 */
async function catalogOf(language: string): Promise<Map<string, Message>> {
  const files = globSync(`${MESSAGES}/${language}/*.{ts,tsx}`).filter((file) => !file.endsWith("index.ts"));
  const areas = await Promise.all(files.toSorted().map(async (file): Promise<object> => import(join(ROOT, file))));
  return new Map(areas.flatMap((area) => messagesIn({ ...area })));
}

/** Returns a message's code without the positions of elements, which the compiler adds for tests. */
const codeOf = (message: Message | undefined): string => String(message).replaceAll(/\{\s*fileName:[^}]*\}/g, "");

const [english, german] = [await catalogOf("en"), await catalogOf("de")];

test("every message is translated, except those that are the same in both languages", () => {
  expect(english.size).toBeGreaterThan(50);
  expect([...german.keys()]).toEqual([...english.keys()]);
  const same = [...english].filter(([place, message]) => codeOf(message) === codeOf(german.get(place))).map(([place]) => place);
  expect(same.toSorted()).toEqual(SAME.toSorted());
});

test("a message takes the same parameters in every language", () => {
  const other = [...english].filter(([place, message]) => {
    const translated = german.get(place);
    return (
      typeof message !== typeof translated ||
      (isFunction(message) && isFunction(translated) && message.length !== translated.length)
    );
  });
  expect(other.map(([place]) => place)).toEqual([]);
});

test("no message is empty or has spaces around it, except parts around an element", () => {
  const odd = [english, german].flatMap((catalog) =>
    [...catalog].filter(
      ([place, message]) => typeof message === "string" && message.trim() !== message && !/\.(before|after)$/.test(place),
    ),
  );
  expect(odd).toEqual([]);
});

/** Names, and what the dashboard itself calls its parts. */
const CAPITALIZED =
  /^(?:Odoo|OpenSSH|Enterprise|TypeScript|Docker|Compress|Deflate|PowerShell|Zstandard|Microsoft|Base64|Git|MySQL|PostgreSQL|Python|Idempotency|If-Match|If-None-Match|Retry-After|Unicode|Europe|Home|Actions|Neutralize|I've|A–Z|Z–A|Change domain|Edit details|Ops|From|Before)\b/;

test("English is in sentence case, and neither begs nor shouts nor says that it succeeded", () => {
  const odd = [...english].filter(
    ([place, message]) =>
      /\b(?:please|successful(?:ly)?|simply|oops)\b|\w!(?=["`\s]|$)/i.test(codeOf(message)) ||
      (typeof message === "string" &&
        place !== "tokens.expiry.lastDayHint" &&
        [...message.matchAll(/(?<=[a-z,] )\p{Lu}\p{Ll}.*/gu)].some(([rest]) => !CAPITALIZED.test(rest))),
  );
  expect(odd.map(([place]) => place)).toEqual([]);
});

test("the event of an operation's request does not say that the operation has succeeded", () => {
  const EVENT = /^operations\.work\..*\.event$/;
  const odd = [...english, ...german].filter(
    ([place, message]) => EVENT.test(place) && !/^(?:Started|Requested) | (?:begonnen|angefordert)$/.test(String(message)),
  );
  expect(odd.map(([place]) => place)).toEqual([]);
});

test("German has its own quotation marks in pairs, and does not beg either", () => {
  const marks = (text: string, mark: RegExp): number => text.match(mark)?.length ?? 0;
  const odd = [...german].filter(([, message]) => {
    const text = codeOf(message);
    return (
      /\bbitte\b|”|\.\.\./i.test(text.replaceAll(/\.\.\.(?=\w)/g, "")) ||
      marks(text, /„/g) !== marks(text, /“/g) ||
      (typeof message === "string" && /["'’`]/.test(message))
    );
  });
  expect(odd.map(([place]) => place)).toEqual([]);
});

interface Node {
  type: string;
  start: number;
  [part: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";

/** Calls `see` with each node and those around it, from the inside out. */
function walk(node: Node, see: (node: Node, around: readonly Node[]) => void, around: readonly Node[] = []): void {
  see(node, around);
  for (const part of Object.values(node))
    for (const each of Array.isArray(part) ? part : [part]) if (isNode(each)) walk(each, see, [node, ...around]);
}

const sources = globSync("dashboard/src/**/*.{ts,tsx}").map((file) => {
  const code = readFileSync(file, "utf8");
  const { program, errors } = parseSync(file, code);
  if (errors.length > 0 || !isNode(program)) throw new Error(`${file} has no syntax tree`);
  const [, folder = ""] = /^dashboard\/src\/(?:([^/]+)\/)?/.exec(file) ?? [];
  return { file, folder, code, program };
});
const lineOf = (code: string, { start }: Node): number => code.slice(0, start).split("\n").length;

const isFunctionNode = ({ type }: Node): boolean => /Function|^MethodDefinition$|^PropertyDefinition$/.test(type);

test("nothing reads the catalog before it is loaded", () => {
  const early = sources.flatMap(({ file, code, program }) => {
    const reads: string[] = [];
    const imports = /import \{[^}]*\b(?:text|componentText)\b[^}]*\} from "[./]+\/messages\/(?:text|components)\.ts"/.test(code);
    walk(program, (node, around) => {
      if (!imports || node.type !== "Identifier" || !["text", "componentText"].includes(String(node["name"]))) return;
      const [parent] = around;
      const isImport = around.some(({ type }) => type === "ImportDeclaration");
      const isName =
        parent !== undefined && (parent["property"] === node || parent["key"] === node) && parent["computed"] !== true;
      if (!isImport && !isName && !around.some(isFunctionNode)) reads.push(`${file}:${lineOf(code, node)}`);
    });
    return reads;
  });
  expect(early).toEqual([]);
});

/** Properties and attributes that a user reads. */
const SHOWN =
  /^(?:label|labelTag|header|headerText|title|text|word|placeholder|description|content|empty|hint|submit|confirm|alt|what|kind|name|value)$|Text$|[lL]abel$/;
/** Two words, or one that begins a sentence. */
const WORDS = /\p{L}{2,}[,.:;]? \p{L}|^\p{Lu}\p{Ll}+\b|\p{L}…$/u;

/** Returns whether a text is not for users: what a program reads, and errors that mean a bug. */
function isCode(node: Node, around: readonly Node[]): boolean {
  const [parent] = around;
  if (parent === undefined || /^(?:Import|Export)|^TSLiteralType$|^BinaryExpression$|^SwitchCase$/.test(parent.type)) return true;
  if (parent["key"] === node || parent["property"] === node) return true;
  const attribute = around.find(({ type }) => type === "JSXAttribute");
  return (
    (parent.type === "JSXAttribute" && isNode(attribute?.["name"]) && attribute["name"]["name"] === "className") ||
    around.some(
      ({ type, callee }) =>
        type === "NewExpression" && isNode(callee) && /Error$|^DOMException$|^NotLoaded$/.test(String(callee["name"])),
    )
  );
}

/** What names a value: the attribute or the property that it is. */
function nameOf(around: readonly Node[]): string {
  const namingNode = around.find(({ type }) => type === "JSXAttribute" || type === "Property" || /Function/.test(type));
  const name = namingNode?.["name"] ?? namingNode?.["key"];
  return isNode(name) ? String(name["name"]) : "";
}

function wordsIn({ file, code, program }: (typeof sources)[number]): string[] {
  const words: string[] = [];
  walk(program, (node, around) => {
    const raw = node["value"];
    const text =
      node.type === "JSXText" || node.type === "Literal"
        ? raw
        : node.type === "TemplateElement" && typeof raw === "object" && raw !== null && "cooked" in raw
          ? raw.cooked
          : undefined;
    if (typeof text !== "string" || !/\p{L}/u.test(text) || isCode(node, around)) return;
    if (node.type === "JSXText" || WORDS.test(text) || (SHOWN.test(nameOf(around)) && / \p{L}|\p{L} /u.test(text)))
      words.push(`${file}:${lineOf(code, node)} ${text.trim()}`);
  });
  return words;
}

/** The texts that are not for translators. */
const CODE: readonly RegExp[] = [
  /policies\/form\.tsx:\d+ Europe\/Berlin$/, // a time zone's name
  /settings\/preferences\.tsx:\d+ (?:English|Deutsch)$/, // in its own language, whatever the page's
  /login\/login\.tsx:\d+ username webauthn$/, // what the browser may fill in
  /use-form\.ts:\d+ This$/, // completes an English sentence of the API
  /call-lines\.ts:\d+ (?:-H "Authorization: Bearer \$TOKEN"|await client\.)$/,
  /(?:search\.tsx|use-focus-\w+\.ts):\d+ (?:input|tbody|#top)\b/, // selectors
  /mode\.ts:\d+ \(prefers-color-scheme: dark\)$/,
  /ssh-keys\/add\.tsx:\d+ PRIVATE KEY$/, // in the text of a key
];

test("every word that a user reads is in the catalog", () => {
  const sourcesWithWords = sources
    .filter(({ folder }) => folder !== "messages")
    .map((source) => ({ ...source, words: wordsIn(source) }));
  // The test sees words where they are.
  expect(wordsIn(sourceOf(`<p title="Some words" aria-label="one">More<b>{"And more"}</b></p>`))).toHaveLength(3);
  const untranslated = sourcesWithWords
    .flatMap(({ words }) => words)
    .filter((each) => !CODE.some((pattern) => pattern.test(each)));
  expect(untranslated).toEqual([]);
});

function sourceOf(code: string): (typeof sources)[number] {
  const { program } = parseSync("x.tsx", code);
  if (!isNode(program)) throw new Error("no syntax tree");
  return { file: "x.tsx", folder: "", code, program };
}

/**
 * Every page has these; what it needs of the others is named where its file is loaded, or where a part of it is that loads later.
 */
const COMMON = /\btext\.(?!(?:app|operations|resource|shell|ts)\b)(\w+)/g;
const PAGE = /\b(?:page\(\s*"[^"]+",|withAreas\()\s*\(\) => import\("([^"]+)"\)((?:,\s*"\w+")*)/g;
const LATER = /\blazily\(\s*async \(\) => \(await import\("([^"]+)"\)\)\.\w+((?:,\s*"\w+")*),?\s*\)/g;

/**
 * The areas of the catalog that a file and all that it imports read, except those that a part that is loaded later brings itself.
 */
function areasOf(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return new Set();
  seen.add(file);
  const { code = "" } = sources.find((each) => each.file === file) ?? {};
  const ownAreas = /messages\/text\.ts"/.test(code) ? [...code.matchAll(COMMON)].map(([, area = ""]) => area) : [];
  const placeOf = (from: string): string => join(dirname(file), from);
  const later = [...code.matchAll(LATER)].flatMap(([, from = "", brought = ""]) =>
    [...areasOf(placeOf(from), new Set(seen))].filter((area) => !brought.includes(`"${area}"`)),
  );
  const imported = [...code.replaceAll(LATER, "").matchAll(/(?:from|import\()\s*"(\.[^"]+\.tsx?)"/g)]
    .map(([, from = ""]) => placeOf(from))
    .filter((from) => !/routes\.tsx$|\/messages\//.test(from));
  return new Set([...ownAreas, ...later, ...imported.flatMap((each) => [...areasOf(each, seen)])]);
}

/** What files are loaded together with areas of the catalog, and with which. */
const loadedWith = (pattern: RegExp) =>
  sources.flatMap(({ file, code }) =>
    [...code.matchAll(pattern)].map(([, from = "", areas = ""]) => ({
      file: join(dirname(file), from),
      areas: [...areas.matchAll(/\w+/g)].flat().toSorted(),
    })),
  );

test("every page loads the areas of the catalog that it reads, and no others", () => {
  const pages = loadedWith(PAGE);
  const names = pages.map(({ file }) => file);
  for (const name of ["login/route", "shell/shell", "home/home"]) expect(names).toContain(`dashboard/src/${name}.tsx`);
  for (const { file, areas } of pages) expect(areas, file).toEqual([...areasOf(file)].toSorted());
  const parts = loadedWith(LATER);
  expect(parts.length).toBeGreaterThan(10);
  for (const { file, areas } of parts) expect([...areasOf(file)], file).toEqual(expect.arrayContaining(areas));
});

test("only one function loads files with areas of the catalog", () => {
  const callers = sources.filter(({ code }) => /\bloadAreas\(/.test(code)).map(({ file }) => file);
  expect(callers.toSorted()).toEqual(["app/with-areas.ts", "messages/text.ts"].map((file) => `dashboard/src/${file}`));
});
