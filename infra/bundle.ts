// Bundles all functions at once, each into its own folder, optimized for cold starts.
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { isAbsolute, join, relative } from "node:path";
import { type Plugin, rolldown } from "rolldown";
import * as z from "zod";
import { workflows } from "../functions/workflows/index.ts";
import { routes } from "../shared/api/index.ts";
import { openapiDocument } from "../shared/api/openapi/describe.ts";
import { builtOnce, computeFingerprint, newestBuild, ROOT } from "./built.ts";
import { concurrently } from "../shared/platform/concurrently.ts";
import {
  bundleAt,
  bundledContents,
  type Contents,
  copyBundle,
  createDigests,
  readEarlier,
  writeContents,
} from "./bundle-contents.ts";
import { generatedModules } from "./generated-modules.ts";
import { standInPlugin, STAND_INS, type StandIn } from "./bundle-stand-ins.ts";
import { ENVIRONMENTS } from "../shared/domain/environments.ts";

const SCHEDULES = [
  "check-servers",
  "sweep",
  "refresh-catalog",
  "expire-backups",
  "expire-history",
  "run-policies",
  "dispatch",
  "deliver",
  "send-mail",
  "rescue",
] as const;
export type ScheduleName = (typeof SCHEDULES)[number];

/** Minified bytes by id. */
type Sizes = Record<string, number>;

/** Bundles that are made at the same time. */
const AT_ONCE = 4;

/** Every function's ID, which is its folder's name, and its file. */
export const ENTRIES: Readonly<Record<string, string>> = Object.fromEntries([
  ...routes.map(({ id, entry }) => [id, entry] as const),
  ["authorize", "functions/authorize.ts"],
  ["fallback", "functions/fallback.ts"],
  ["read-logs", "functions/read-logs.ts"],
  ...Object.keys(workflows).map((name) => [`tasks.${name}`, `functions/workflows/${name}/tasks.ts`] as const),
  ...SCHEDULES.map((name) => [`schedules.${name}`, `functions/schedules/${name}.ts`] as const),
]);

/** The bundler imports it itself, for packages that load modules at run time. */
const CREATES_REQUIRE = "node:module";

/**
 * Node's own modules, found as CommonJS finds them: importing `node:http` and its like the ESM way makes Node 22 and later load
 * undici for their named exports, which takes 16 to 24 ms of a start, against 2 ms for the module itself. Of an import only the
 * names that are used stay.
 */
const builtins: Plugin = {
  name: "builtins",
  resolveId: {
    filter: { id: /^[a-z]/ },
    handler: (id, _, { kind }) =>
      isBuiltin(id) && id !== CREATES_REQUIRE
        ? {
            id: `\0${kind === "import-statement" ? "imported" : "required"}:${id.replace(/^node:/, "")}`,
            moduleSideEffects: false,
          }
        : null,
  },
  load: {
    filter: { id: /^\0(?:imported|required):/ },
    handler: (id) => {
      const [kind, name = ""] = id.slice(1).split(":");
      const expression = `process.getBuiltinModule("node:${name}")`;
      if (kind === "required") return { code: `module.exports = ${expression};`, moduleType: "js" };
      const names = Object.keys(process.getBuiltinModule(name) ?? {}).filter((each) => each !== "default");
      const exported = names.map((each) => `export const ${each} = all.${each};`);
      return { code: [`const all = ${expression};`, "export default all;", ...exported].join("\n"), moduleType: "js" };
    },
  },
};

/**
 * Functions that only compute a value, with all that is called on what they return: a schema, an endpoint. Where nobody uses the
 * value, the call is left out, so that a function has the schemas of its own endpoint and not those of all.
 */
const PURE: readonly string[] = ["z", "fields", "stored", "openEnum"];

/** Maps functions to the names among these that a library in the function's bundle uses for something else. */
const TAKEN: Readonly<Record<string, readonly string[]>> = { "schedules.send-mail": ["fields"] };

export const pureNames = (id: string): readonly string[] => PURE.filter((name) => TAKEN[id]?.includes(name) !== true);

/** Loading one of these modules does nothing but compute what it exports. */
const OURS = new RegExp(`^${join(ROOT, "shared/").replaceAll(/\W/g, String.raw`\$&`)}`);

const DESCRIPTION = "openapi.get";

interface Options {
  standIns?: readonly StandIn[];
  /** The folder of an earlier build, whose bundles are kept where none of their sources has changed. */
  earlier?: string | undefined;
}

/**
 * Bundles all functions, or those of `only`, into `<outDir>/<id>/index.mjs`, and writes what is in them into
 * `<outDir>/contents.json`.
 */
export async function bundle(outDir: string, { only, ...options }: Options & { only?: readonly string[] } = {}): Promise<Sizes> {
  const entries = Object.entries(ENTRIES).filter(([id]) => only === undefined || only.includes(id));
  const missing = entries.filter(([, file]) => !existsSync(join(ROOT, file)));
  if (missing.length > 0) {
    throw new Error(
      `These functions are declared, but their files are missing:\n${missing.map(([id, file]) => `  ${file}  (${id})`).join("\n")}`,
    );
  }
  const sizes = await bundleFiles(outDir, entries, options);
  if (entries.some(([id]) => id === DESCRIPTION)) await describeApi(join(outDir, DESCRIPTION));
  return sizes;
}

/** Bundles files as functions, with the IDs that name their folders. */
export async function bundleFiles(
  outDir: string,
  files: readonly (readonly [id: string, file: string])[],
  { standIns = STAND_INS, earlier }: Options = {},
): Promise<Sizes> {
  const plugins = [builtins, generatedModules, standInPlugin(standIns)];
  const define = { SERVICE_VERSION: JSON.stringify(await version()), __dirname: JSON.stringify("/") };
  const digest = createDigests(await computeFingerprint(await settingFiles()));
  const before = await readEarlier(earlier);
  const make = async (id: string, entry: string): Promise<Contents> => {
    const file = bundleAt(outDir, id);
    const same = before[id];
    if (earlier !== undefined && same?.sources.includes(entry) && same.digest === (await digest(same.sources)))
      if (await copyBundle(bundleAt(earlier, id), file)) return same;
    const bundled = await bundleFile(join(ROOT, entry), file, { plugins, define, pure: pureNames(id) });
    return { ...bundled, digest: await digest(bundled.sources) };
  };
  const contents: Record<string, Contents> = {};
  await concurrently(AT_ONCE, files, async ([id, entry]) => {
    contents[id] = await make(id, entry);
  });
  await writeContents(outDir, contents);
  return listSizes(contents);
}

async function bundleFile(
  input: string,
  file: string,
  { plugins, define, pure }: { plugins: Plugin[]; define: Record<string, string>; pure: readonly string[] },
): Promise<Omit<Contents, "digest">> {
  const sources: string[] = [];
  const bundling = await rolldown({
    input,
    cwd: ROOT,
    platform: "node",
    tsconfig: false,
    resolve: { mainFields: ["module", "main"] },
    transform: { target: "node24", define },
    treeshake: {
      manualPureFunctions: pure,
      propertyReadSideEffects: false,
      moduleSideEffects: [{ test: OURS, sideEffects: false }],
    },
    // The SSH client's faster native parts, which are compiled on installation: it works without them.
    external: [/^cpu-features$/, /\.node$/],
    plugins: [...plugins, ourSources(sources)],
    logLevel: "warn",
  });
  try {
    const { output } = await bundling.write({ file, format: "esm", minify: true, codeSplitting: false });
    const [{ code, modules }] = output;
    const inputs = Object.keys(modules).filter(isAbsolute);
    return {
      bytes: Buffer.byteLength(code),
      inputs: inputs.map((path) => relative(ROOT, path)),
      sources,
    };
  } finally {
    await bundling.close();
  }
}

/** Adds to a list our files that the bundler has read. What libraries there are says the lockfile. */
const ourSources = (sources: string[]): Plugin => ({
  name: "our sources",
  buildEnd() {
    for (const id of this.getModuleIds()) if (isAbsolute(id) && !id.includes("/node_modules/")) sources.push(relative(ROOT, id));
  },
});

/** The API description is created here and read by its function, which then needs none of the code that creates it. */
async function describeApi(folder: string): Promise<void> {
  for (const environment of ENVIRONMENTS)
    await writeFile(join(folder, `${environment}.json`), JSON.stringify(openapiDocument(environment)));
}

/** The sizes of the bundles in a folder. */
export const bundledSizes = async (outDir: string): Promise<Sizes> => listSizes(await bundledContents(outDir));

const listSizes = (contents: Readonly<Record<string, Contents>>): Sizes =>
  Object.fromEntries(Object.entries(contents).map(([id, { bytes }]) => [id, bytes]));

async function version(): Promise<string> {
  const text = await readFile(join(ROOT, "package.json"), "utf8");
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}

/** The folder of the bundles of the current sources: built if there is none yet, with what is unchanged of the newest build. */
export async function bundleIfChanged(cache = join(ROOT, ".local", "bundles")): Promise<string> {
  const before = await fingerprint();
  return builtOnce(cache, before, async (draft) => {
    await bundle(draft, { earlier: await newestBuild(cache) });
    if ((await fingerprint()) !== before)
      throw new Error("A source file has changed while the functions were bundled: start again");
  });
}

/** The fingerprint of everything in a bundle: sources, dependencies and bundling code. */
const fingerprint = async (): Promise<string> => computeFingerprint(["shared", "functions", ...(await settingFiles())]);

/** What decides for every bundle how it is made. */
async function settingFiles(): Promise<string[]> {
  const infra = (await readdir(join(ROOT, "infra"))).filter((name) => name.startsWith("bundle"));
  return [...infra.map((name) => `infra/${name}`), "package.json", "package-lock.json"];
}
