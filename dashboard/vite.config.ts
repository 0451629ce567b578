// How the dashboard is built: one entry, a chunk per page, and nothing that its strict Content-Security-Policy would refuse.
import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { api } from "../shared/api/index.ts";
import { lightTable } from "./src/app/light-table.ts";

const ROOT = import.meta.dirname;
const FONTS = resolve(ROOT, "../.local/dashboard-fonts");

/** `npm start` of one's own, for `npx vite dashboard`. */
const API = process.env["API"] ?? "http://127.0.0.1:3000";

/**
 * The design system's fonts come inside its style sheet; as files the policy allows them. Regular and bold are enough: a browser
 * slants them itself.
 */
const fontFiles: Plugin = {
  name: "font-files",
  enforce: "pre",
  transform: {
    filter: { id: /global-styles\/index\.css$/ },
    handler(css) {
      mkdirSync(FONTS, { recursive: true });
      return css
        .replaceAll(/@font-face\s*\{[^}]*\}/g, (face) => (/font-weight: (400|700);\s*font-style: normal/.test(face) ? face : ""))
        .replaceAll(/url\('data:font\/woff2;base64,([^']+)'\)/g, (_, base64: string) => {
          const file = join(FONTS, `open-sans-${createHash("sha256").update(base64).digest("hex").slice(0, 8)}.woff2`);
          writeFileSync(file, Buffer.from(base64, "base64"));
          return `url('${file}')`;
        });
    },
  },
};

/** zod tries whether it may compile code, which the policy refuses and reports: it is told beforehand that it may not. */
const withoutEval: Plugin = {
  name: "without-eval",
  transform: {
    filter: { id: /zod\/v4\/core\/core\.js$/ },
    handler: (code) => `${code}\nglobalConfig.jitless = true;\n`,
  },
};

/** zod's own sentences about what is wrong with a value: the schemas have theirs. */
const withoutSentences: Plugin = {
  name: "without-sentences",
  transform: {
    filter: { id: /zod\/v4\/locales\/en\.js$/ },
    handler: () => 'export default () => ({ localeError: () => "is not valid" });',
  },
};

/** Components that no page names, but that are inside those that pages name. */
const INSIDE = [
  "[charts]",
  "button-dropdown",
  "dialog",
  "drawer",
  "dropdown",
  "error-boundary",
  "list",
  "mixed-line-bar-chart",
  "popover",
  "skeleton",
  "token",
  "token-group",
  "tooltip",
];

/** Messages of the design system's components, of which those are left out that no page uses. */
const usedMessages: Plugin = {
  name: "used-messages",
  transform: {
    filter: { id: /i18n\/messages\/all\.(?:en|de)\.js$/ },
    handler(code) {
      const used = usedComponents();
      const json: unknown = JSON.parse(code.slice(code.indexOf("{"), code.lastIndexOf("}") + 1), (key, value: unknown) =>
        (key === "en" || key === "de") && typeof value === "object" && value !== null
          ? Object.fromEntries(Object.entries(value).filter(([component]) => used.has(component)))
          : value,
      );
      return `export default ${JSON.stringify(json)}`;
    },
  },
};

const sourcesIn = (folder: string, pattern: string): string[] =>
  globSync(pattern, { cwd: folder }).map((file) => readFileSync(join(folder, file), "utf8"));

/** The components that pages import, and those inside them. */
const usedComponents = (): Set<string> =>
  new Set([
    ...INSIDE,
    ...sourcesIn(ROOT, "src/**/*.tsx").flatMap((source) =>
      [...source.matchAll(/@cloudscape-design\/components\/([\w-]+)"/g)].map(([, component = ""]) => component),
    ),
  ]);

const COMPONENTS = resolve(ROOT, "../node_modules/@cloudscape-design/components");

/** Icons that no page and no used component names: two thirds of them. */
const usedIcons: Plugin = {
  name: "used-icons",
  transform: {
    filter: { id: /icon\/generated\/icons\.js$/ },
    handler(code) {
      const components = [...usedComponents(), "internal", "icon"].map((name) => `${name}/{*,!(generated)/**/*}.js`);
      const sources = [sourcesIn(ROOT, "src/**/*.{ts,tsx}"), ...components.map((files) => sourcesIn(COMPONENTS, files))]
        .flat()
        .join("\n");
      const end = code.lastIndexOf("\n};");
      const usedParts = code
        .slice(0, end)
        .split(/\n(?= {4}(?:"[a-z0-9-]+"|[a-z]+): React)/)
        .filter((part) => {
          const [, name] = /^ {4}"?([a-z0-9-]+)"?:/.exec(part) ?? [];
          return name === undefined || sources.includes(`"${name}"`) || sources.includes(`'${name}'`);
        });
      return `${usedParts.join("\n")}${code.slice(end)}`;
    },
  },
};

/** The files of the components that pages use, by their ending. */
const usedSources = (ending: string): string[] =>
  [...usedComponents(), "icon", "internal/!(base-theme|generated)"].flatMap((name) =>
    sourcesIn(COMPONENTS, `${name}/**/*.${ending}`),
  );

const readIn = (css: string): string[] => [...css.matchAll(/var\((--[\w-]+)/g)].map(([, token = ""]) => token);

/** Colors, sizes and other tokens of the design system that no used component reads: a third of its first style sheet. */
const unusedTokens = new Set<string>();
const usedTokens: Plugin = {
  name: "used-tokens",
  enforce: "pre",
  transform: {
    filter: { id: /internal\/base-theme\/styles\.scoped\.css$/ },
    handler(css) {
      const values = Map.groupBy(css.matchAll(/(--[\w-]+): *([^;{}]*);/g), ([, token = ""]) => token);
      const scripts = usedSources("js").join("\n");
      const [tokens = ""] = sourcesIn(COMPONENTS, "internal/generated/styles/tokens.js");
      const inScripts = [...tokens.matchAll(/^export var (\w+) = (.*)$/gm)]
        .filter(([, name = ""]) => new RegExp(`\\b${name}\\b`).test(scripts))
        .flatMap(([, , value = ""]) => readIn(value));
      const used = new Set([...usedSources("css"), ...sourcesIn(ROOT, "src/**/*.css")].flatMap(readIn).concat(inScripts));
      // The set grows while it is walked: a token's value may read another one.
      for (const token of used)
        for (const [, , value = ""] of values.get(token) ?? []) for (const each of readIn(value)) used.add(each);
      for (const token of values.keys()) if (!used.has(token)) unusedTokens.add(token);
      return css.replaceAll(/(--[\w-]+): *[^;{}]*;/g, (declaration, token: string) =>
        unusedTokens.has(token) ? "" : declaration,
      );
    },
  },
  generateBundle(_, files) {
    for (const file of Object.values(files))
      for (const token of readIn(file.type === "chunk" ? file.code : String(file.source)))
        if (unusedTokens.has(token)) this.error(`${file.fileName} reads ${token}, which was taken for unused`);
  },
};

/** Fails if a new version of a library no longer has the text. */
function replaced(code: string, from: string, to: string): string {
  if (!code.includes(from)) throw new Error(`The library no longer has ${from}`);
  return code.replaceAll(from, to);
}

/**
 * The components ask in every render whether the page has the design system's other theme, by a search of the whole page for its
 * class. It does not: for 100 checkboxes the search would take as long as all the rest.
 */
const oneTheme: Plugin = {
  name: "one-theme",
  transform: {
    filter: { id: /internal\/hooks\/use-visual-mode\/index\.js$/ },
    handler: (code) => replaced(code, "isThemeActive(Theme.OneTheme)", "false"),
  },
};

/** In menus, the arrow keys lead from the first item to the last one and back. */
const menusWrap: Plugin = {
  name: "menus-wrap",
  transform: {
    filter: { id: /button-dropdown\/utils\/use-button-dropdown\.js$/ },
    handler: (code) =>
      replaced(replaced(code, "moveHighlight(1)", "moveHighlight(1, true)"), "moveHighlight(-1)", "moveHighlight(-1, true)"),
  },
};

/** The route table as the client needs it, without the schemas that it is declared with. */
const tableWithoutSchemas: Plugin = {
  name: "table-without-schemas",
  transform: {
    filter: { id: /dashboard\/src\/app\/endpoints\.ts$/ },
    handler: () => `export const endpoints = ${JSON.stringify(lightTable(api))};`,
  },
};

/**
 * What is loaded as one file, with all that it imports, however few pages need a part of it: a hundred small files would compress
 * worse, and take longer than the bytes that they save. Of two groups, the first one has a module.
 */
const GROUPS = [
  // Says that the rest is loading, or that it could not be loaded: nothing else may be in it.
  { name: "main", test: /src\/main\.tsx$/ },
  // The form to sign in, and what the catalogs of messages import.
  {
    name: "first",
    test: /src\/login\/first-visit\.tsx$|messages\/en\/steps\.ts$|shared\/(?:api\/permissions|domain\/(?:left-out|problems|reasons))\.ts$/,
  },
  { name: "frame", test: /src\/(?:start|shell\/shell)\.tsx$/ },
  // What most pages are made of, except tables, which most forms do without.
  {
    name: "parts",
    test: /src\/(?:allowed|resource)\/(?!list\/(?:table|list-))|src\/(?:backups|operations)\/(?:progress|sign|use-step|words)/,
    minShareCount: 3,
  },
];

export default defineConfig({
  root: ROOT,
  base: "/",
  publicDir: false,
  plugins: [
    react(),
    fontFiles,
    withoutEval,
    withoutSentences,
    usedMessages,
    usedIcons,
    usedTokens,
    oneTheme,
    menusWrap,
    tableWithoutSchemas,
  ],
  // The messages come parsed.
  resolve: { alias: { "@formatjs/icu-messageformat-parser": "@formatjs/icu-messageformat-parser/lib/no-parser.js" } },
  build: {
    outDir: resolve(ROOT, "../.local/dashboard/draft"),
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0,
    // The polyfill would be an inline script in older browsers' way; all that run this know module preloading.
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { codeSplitting: { groups: GROUPS } } },
  },
  server: { proxy: { "/api": API, "/config.json": API }, fs: { allow: [resolve(ROOT, "..")] } },
});
