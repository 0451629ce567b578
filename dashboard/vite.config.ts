// How the dashboard is built: one entry, a chunk per page, and nothing that its strict Content-Security-Policy would refuse.
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const ROOT = import.meta.dirname;
const FONTS = resolve(ROOT, "../.local/dashboard-fonts");

/** `npm start` of one's own, for `npx vite dashboard`. */
const API = process.env["API"] ?? "http://127.0.0.1:3000";

/** The design system's fonts come inside its style sheet; as files a page loads the two that it shows, and the policy allows them. */
const fontFiles: Plugin = {
  name: "font-files",
  enforce: "pre",
  transform: {
    filter: { id: /global-styles\/index\.css$/ },
    handler(css) {
      mkdirSync(FONTS, { recursive: true });
      return css.replaceAll(/url\('data:font\/woff2;base64,([^']+)'\)/g, (_, base64: string) => {
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

export default defineConfig({
  root: ROOT,
  base: "/",
  publicDir: false,
  plugins: [react(), fontFiles, withoutEval, withoutSentences],
  build: {
    outDir: resolve(ROOT, "../.local/dashboard/draft"),
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0,
    // The polyfill would be an inline script in older browsers' way; all that run this know module preloading.
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": API, "/config.json": API }, fs: { allow: [resolve(ROOT, "..")] } },
});
