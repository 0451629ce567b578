// Bundles all functions at once, each into its own folder, optimized for cold starts.
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { build, type Metafile, type Plugin } from "esbuild";
import * as z from "zod";
import { workflows } from "../functions/workflows/index.ts";
import { routes } from "../shared/api/index.ts";
import { openapi } from "../shared/api/openapi.ts";
import { routeTable } from "../shared/api/route-table.ts";
import { hostScript } from "../shared/hosts/host-script.ts";
import { builtOnce, fingerprintOf, ROOT } from "./built.ts";
import { pure } from "./bundle-edit.ts";
import { leaveOut, STAND_INS, type StandIn } from "./bundle-leave-out.ts";
import { ENVIRONMENTS } from "../shared/domain/environments.ts";

const SCHEDULES = [
  "check-servers",
  "sweep",
  "refresh-catalog",
  "expire-backups",
  "expire-history",
  "run-policies",
  "rescue",
] as const;
export type ScheduleName = (typeof SCHEDULES)[number];

/** Minified bytes by id. */
type Sizes = Record<string, number>;

/** Every function's ID, which is its folder's name, and its file. */
export const ENTRIES: Readonly<Record<string, string>> = Object.fromEntries([
  ...routes.map(({ id, entry }) => [id, entry] as const),
  ["authorize", "functions/authorize.ts"],
  ["fallback", "functions/fallback.ts"],
  ...Object.keys(workflows).map((name) => [`tasks.${name}`, `functions/workflows/${name}/tasks.ts`] as const),
  ...SCHEDULES.map((name) => [`schedules.${name}`, `functions/schedules/${name}.ts`] as const),
]);

/**
 * Importing `node:http` and its like the ESM way makes Node 22 and later load undici for their named exports: 16 to 24 ms of a
 * start, against 2 ms for the module itself. As a CommonJS module, esbuild copies all its exports for each file that imports one: 80 of
 * `node:crypto` eleven times, which takes 3 ms.
 */
const builtins: Plugin = {
  name: "builtins",
  setup(esbuild) {
    esbuild.onResolve({ filter: /^[a-z]/ }, ({ path, kind }) =>
      isBuiltin(path)
        ? {
            path: path.replace(/^node:/, ""),
            namespace: kind === "import-statement" ? "imported" : "required",
            sideEffects: false,
          }
        : undefined,
    );
    const found = (path: string): string => `process.getBuiltinModule("node:${path}")`;
    esbuild.onLoad({ filter: /.*/, namespace: "required" }, ({ path }) => ({ contents: `module.exports = ${found(path)};` }));
    esbuild.onLoad({ filter: /.*/, namespace: "imported" }, ({ path }) => {
      const names = Object.keys(process.getBuiltinModule(path) ?? {}).filter((name) => name !== "default");
      const exported = names.map((name) => `export const ${name} = ${pure(`all.${name}`)};`);
      return { contents: `const all = ${pure(found(path))};\nexport default all;\n${exported.join("\n")}` };
    });
  },
};

/** What CommonJS packages call to load a module at run time. */
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

/** Bundles files as functions, with the IDs that name their folders. */
export async function bundleFiles(
  outDir: string,
  files: readonly (readonly [id: string, file: string])[],
  standIns: readonly StandIn[] = STAND_INS,
): Promise<Sizes> {
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
    // The SSH client looks up its own path, but does not use it.
    define: { SERVICE_VERSION: JSON.stringify(await version()), __dirname: JSON.stringify("/") },
    alias: { "@aws-sdk/credential-provider-node": "./infra/bundle-credentials.ts" },
    plugins: [builtins, description, rows, script, leaveOut(standIns)],
    // The SSH client's faster native parts, which are compiled on installation: it works without them.
    external: ["cpu-features", "*.node"],
    metafile: true,
    // esbuild reports methods that are left out of zod's namespaces as undefined; nobody calls them.
    logOverride: { "import-is-undefined": "silent" },
    logLevel: "warning",
  });
  await writeFile(join(outDir, "meta.json"), JSON.stringify(metafile));
  return sizesOf(metafile);
}

/** The API description is created here and read by its function, which then needs none of the code that creates it. */
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

const rows: Plugin = {
  name: "route table",
  setup(esbuild) {
    esbuild.onLoad({ filter: /\/shared\/api\/route-table\.ts$/ }, () => ({
      contents: `export const routeTable = ${JSON.stringify(routeTable)};`,
    }));
  },
};

/** The machine's script is in the bundles that send it. */
const script: Plugin = {
  name: "host script",
  setup(esbuild) {
    esbuild.onLoad({ filter: /\/shared\/hosts\/host-script\.ts$/ }, () => ({
      contents: `export const hostScript = () => ${JSON.stringify(hostScript())};`,
    }));
  },
};

/** The sizes of the bundles in a folder. */
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

/** The folder of the bundles of the current sources: built if there is none yet. */
export const bundleIfChanged = async (cache = join(ROOT, ".local", "bundles")): Promise<string> =>
  builtOnce(cache, await fingerprint(), (draft) => bundle(draft));

/** The fingerprint of everything in a bundle: sources, dependencies and bundling code. */
async function fingerprint(): Promise<string> {
  const infra = (await readdir(join(ROOT, "infra"))).filter((name) => name.startsWith("bundle"));
  return fingerprintOf(["shared", "functions", ...infra.map((name) => `infra/${name}`), "package.json", "package-lock.json"]);
}
