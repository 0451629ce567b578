// Bundles all functions at once, each into a folder of its own, tuned for the time that a cold start takes.
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, relative, resolve } from "node:path";
import { build, type Metafile, type Plugin } from "esbuild";
import * as z from "zod";
import { workflows } from "../functions/workflows/index.ts";
import { routes } from "../shared/api/index.ts";
import { openapi } from "../shared/api/openapi.ts";
import { leaveOut } from "./bundle-leave-out.ts";
import { ENVIRONMENTS } from "./settings.ts";

const ROOT = resolve(import.meta.dirname, "..");

export const SCHEDULES = ["check-servers", "sweep", "expire-backups", "rescue"] as const;
export type ScheduleName = (typeof SCHEDULES)[number];

/** Minified bytes by id. */
export type Sizes = Record<string, number>;

/** Every function's id, which is its folder's name, and its file. */
export const ENTRIES: Readonly<Record<string, string>> = Object.fromEntries([
  ...routes.map(({ id, entry }) => [id, entry] as const),
  ["authorize", "functions/authorize.ts"],
  ["fallback", "functions/fallback.ts"],
  ...Object.keys(workflows).map((name) => [`tasks.${name}`, `functions/workflows/${name}/tasks.ts`] as const),
  ...SCHEDULES.map((name) => [`schedules.${name}`, `functions/schedules/${name}.ts`] as const),
]);

/**
 * Importing `node:http` and its like the ESM way makes Node 22 and later load undici for their named exports: 16 to 24 ms of a
 * start, against 2 ms for the module itself.
 */
const builtins: Plugin = {
  name: "builtins",
  setup(esbuild) {
    esbuild.onResolve({ filter: /^[a-z]/ }, ({ path }) =>
      isBuiltin(path) ? { path: path.replace(/^node:/, ""), namespace: "builtin", sideEffects: false } : undefined,
    );
    esbuild.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule("node:${path}");`,
      loader: "js",
    }));
  },
};

/** What CommonJS packages call when they ask for a module at run time. */
const BANNER = 'const require = process.getBuiltinModule("node:module").createRequire(import.meta.url);';

const DESCRIPTION = "openapi.get";

/** Bundles all functions, or those of `only`, into `<outDir>/<id>/index.mjs`, and writes `<outDir>/meta.json`. */
export async function bundle(outDir: string, { only }: { only?: readonly string[] } = {}): Promise<Sizes> {
  const wanted = Object.entries(ENTRIES).filter(([id]) => only === undefined || only.includes(id));
  const missing = wanted.filter(([, file]) => !existsSync(join(ROOT, file)));
  if (missing.length > 0) {
    throw new Error(
      `These functions are declared, but their files are missing:\n${missing.map(([id, file]) => `  ${file}  (${id})`).join("\n")}`,
    );
  }
  const sizes = await bundleFiles(outDir, wanted);
  if (wanted.some(([id]) => id === DESCRIPTION)) await describeApi(join(outDir, DESCRIPTION));
  return sizes;
}

/** Bundles files as functions, given with the ids that name their folders. */
export async function bundleFiles(outDir: string, files: readonly (readonly [id: string, file: string])[]): Promise<Sizes> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: files.map(([id, file]) => ({ in: file, out: `${id}/index` })),
    outdir: outDir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    target: "node24",
    mainFields: ["module", "main"],
    legalComments: "none",
    banner: { js: BANNER },
    define: { SERVICE_VERSION: JSON.stringify(await version()) },
    alias: { "@aws-sdk/credential-provider-node": "./infra/bundle-credentials.ts" },
    plugins: [builtins, description, leaveOut],
    metafile: true,
    // Methods that are left out of zod's namespaces are told as undefined, and are never called.
    logOverride: { "import-is-undefined": "silent" },
    logLevel: "warning",
  });
  await writeFile(join(outDir, "meta.json"), JSON.stringify(metafile));
  return sizesOf(metafile);
}

/** The API's description is made here and read by its function, which so needs none of what makes it. */
async function describeApi(folder: string): Promise<void> {
  for (const environment of ENVIRONMENTS)
    await writeFile(join(folder, `${environment}.json`), JSON.stringify(openapi(environment)));
}

const description: Plugin = {
  name: "description",
  setup(esbuild) {
    esbuild.onLoad({ filter: /\/shared\/api\/openapi\.ts$/ }, () => ({
      contents: `
        import { readFileSync } from "node:fs";
        export const openapi = (environment) => JSON.parse(readFileSync(new URL(\`./\${environment}.json\`, import.meta.url), "utf8"));`,
    }));
  },
};

/** The sizes of what was bundled into a folder. */
export async function bundledSizes(outDir: string): Promise<Sizes> {
  const parsed = z.object({ outputs: z.record(z.string(), z.object({ bytes: z.number() })) });
  return sizesOf(parsed.parse(JSON.parse(await readFile(join(outDir, "meta.json"), "utf8"))));
}

function sizesOf({ outputs }: { outputs: Record<string, Pick<Metafile["outputs"][string], "bytes">> }): Sizes {
  return Object.fromEntries(Object.entries(outputs).map(([file, { bytes }]) => [file.split("/").at(-2) ?? file, bytes]));
}

async function version(): Promise<string> {
  const text = await readFile(join(ROOT, "package.json"), "utf8");
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}

/** Bundles of an hour ago may still be read by a synthesis that began then; of two hours ago, no more. */
const KEPT_HOURS = 2;

/** The folder of the bundles of the present sources: made if there is none yet. */
export async function bundleIfChanged(cache = join(ROOT, ".local", "bundles")): Promise<string> {
  const outDir = join(cache, await fingerprint());
  if (existsSync(outDir)) return outDir;
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, "draft-"));
  try {
    await bundle(draft);
    await removeOlder(cache);
    // Whole or not at all; if another process was faster, its bundles are the same.
    await rename(draft, outDir).catch((error: unknown) => {
      if (!existsSync(outDir)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return outDir;
}

async function removeOlder(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const { mtimeMs } = await stat(join(cache, name));
    if (Date.now() - mtimeMs > KEPT_HOURS * 3_600_000) await rm(join(cache, name), { recursive: true, force: true });
  }
}

/** Of all that goes into a bundle: sources, dependencies and the way of bundling. */
async function fingerprint(): Promise<string> {
  const sources = await Promise.all(["shared", "functions"].map((folder) => filesIn(join(ROOT, folder))));
  const infra = (await readdir(join(ROOT, "infra")))
    .filter((name) => name.startsWith("bundle"))
    .map((name) => join(ROOT, "infra", name));
  const files = [...sources.flat(), ...infra, join(ROOT, "package.json"), join(ROOT, "package-lock.json")];
  const hash = createHash("sha256");
  for (const file of files.toSorted())
    hash
      .update(`${relative(ROOT, file)}\0`)
      .update(await readFile(file))
      .update("\0");
  return hash.digest("hex").slice(0, 16);
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
