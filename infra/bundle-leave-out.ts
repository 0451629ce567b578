// Parts of the SDK and zod that none of our functions uses, left out of the bundles: loading code is most of a cold start.
// esbuild fails if a stand-in lacks an import, so an update of the SDK that needs more fails here. For each of them, the
// test of the bundles fails once it saves nothing, because an update has moved or removed what it replaces.
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { OnResolveArgs, Plugin } from "esbuild";
import * as z from "zod";
import { ROOT } from "./built.ts";
import { withEmptyMethods, withoutCalls, withoutErrors, withoutUnusedMethods, withPureArrays } from "./bundle-edit.ts";
import { LEFT_OUT, ONCE, onceModule, shakeable, withOwnEndpoint, withoutParts, withPlainSchemasOnce } from "./bundle-shake.ts";

export interface StandIn {
  /** What is left out. */
  name: string;
  /** The module, by the end of its path. */
  file: RegExp;
  contents: (path: string) => string | Promise<string>;
}

const SMITHY = String.raw`@smithy\/core\/dist-es\/submodules`;

/** Clients whose only endpoints are `https://NAME.REGION.amazonaws.com` and AWS_ENDPOINT_URL. */
const HOSTS: Readonly<Record<string, string>> = { dynamodb: "dynamodb", sfn: "states", "secrets-manager": "secretsmanager" };
const CLIENT = String.raw`@aws-sdk\/client-(${Object.keys(HOSTS).join("|")})`;

export const STAND_INS: readonly StandIn[] = [
  {
    // Streams of events, such as those of S3 Select.
    name: "event streams of S3",
    file: new RegExp(String.raw`${SMITHY}\/event-streams\/index\.js$`),
    contents: () =>
      `
      export const resolveEventStreamSerdeConfig = (config) => config;
      export const eventStreamSerdeProvider = () => { throw new Error("Event streams are left out of the bundles"); };
      export class EventStreamSerde { constructor() { eventStreamSerdeProvider(); } }`,
  },
  {
    // The same in all clients; and the prefixes that some commands put before their host (none of ours), with the analysis of commands
    // that these take.
    name: "event streams and host prefixes of protocols",
    file: new RegExp(String.raw`${SMITHY}\/protocols\/HttpProtocol\.js$`),
    contents: async (path) =>
      withEmptyMethods(await readFile(path, "utf8"), /EventStream(Capability|Marshaller)$|^setHostPrefix$/),
  },
  {
    // The services that speak JSON send and take times as seconds since 1970.
    name: "times as text in JSON",
    file: new RegExp(String.raw`${SMITHY}\/protocols\/json\/codec-v2\/JsonShape(Des|S)erializer2\.js$`),
    contents: async (path) => (await readFile(path, "utf8")).replace(/case 5:.*(?=case 7:)/s, ""),
  },
  {
    // A parser of the dates in `Retry-After`, which JavaScript reads itself.
    name: "dates in headers",
    file: new RegExp(String.raw`${SMITHY}\/retry\/middleware-retry\/parseRetryAfterHeader\.js$`),
    contents: async (path) => (await readFile(path, "utf8")).replace("parseRfc7231DateTime(retryAfter)", "new Date(retryAfter)"),
  },
  {
    // Plug-ins that change a client's configuration; we have none.
    name: "extensions of clients",
    file: /@aws-sdk\/client-[\w-]+\/dist-es\/runtimeExtensions\.js$/,
    contents: () => "export const resolveRuntimeExtensions = (config) => config;",
  },
  {
    // Sets of timeouts and retries to choose from; "legacy" is the SDK's default, and our clients have their own (`aws-calls.ts`).
    name: "modes of defaults",
    file: new RegExp(String.raw`${SMITHY}\/config\/defaults-mode\/resolveDefaultsModeConfig\.js$`),
    contents: () => 'export const resolveDefaultsModeConfig = () => async () => "legacy";',
  },
  {
    // Warns of versions of Node that the SDK will not support; ours is newer.
    name: "warning of old versions of Node",
    file: /@aws-sdk\/core\/dist-es\/submodules\/client\/emitWarningIfUnsupportedVersion\.js$/,
    contents: () => `
      export const state = { warningEmitted: true };
      export const emitWarningIfUnsupportedVersion = () => {};`,
  },
  {
    // They stay, used or not, with the commands that they send: the SDK's build does not mark them as free of side effects.
    name: "paginators that nobody uses",
    file: /@aws-sdk\/lib-dynamodb\/dist-es\/pagination\/\w+Paginator\.js$/,
    contents: async (path) => shakeable(await readFile(path, "utf8")),
  },
  {
    // A DynamoDB client can look up its endpoint; no function of ours does.
    name: "endpoint discovery",
    file: /@aws-sdk\/middleware-endpoint-discovery\/dist-es\/index\.js$/,
    contents: () =>
      `
      export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = { environmentVariableSelector: () => false, configFileSelector: () => false, default: false };
      export const resolveEndpointDiscoveryConfig = (config) => config;`,
  },
  {
    // SHA-256 in JavaScript, for platforms without Node's.
    name: "SHA-256 in JavaScript",
    file: new RegExp(String.raw`${SMITHY}\/checksum\/sha256\/Sha256Js\.js$`),
    contents: () => "export class Sha256Js {}",
  },
  {
    // Retries that slow down a whole client, which nobody turns on.
    name: "adaptive retries",
    file: new RegExp(String.raw`${SMITHY}\/retry\/util-retry\/AdaptiveRetryStrategy\.js$`),
    contents: () =>
      'export class AdaptiveRetryStrategy { constructor() { throw new Error("Adaptive retries are left out of the bundles"); } }',
  },
  {
    // Lambda has neither ~/.aws/config nor an instance's metadata; looking for them takes time, too.
    name: "config files",
    file: new RegExp(String.raw`${SMITHY}\/config\/shared-ini-file-loader\/loadSharedConfigFiles\.js$`),
    contents: () =>
      `
      export const CONFIG_PREFIX_SEPARATOR = ".";
      export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} });`,
  },
  {
    // Lambda has no instance whose metadata could name a region.
    name: "region from instance metadata",
    file: new RegExp(String.raw`${SMITHY}\/config\/config-resolver\/regionConfig\/getInstanceMetadataRegion\.js$`),
    contents: () => "export const getInstanceMetadataRegion = async () => undefined;",
  },
  {
    // Tells AWS which SDK sends the request, and from which of its features.
    name: "user agent",
    file: /@aws-sdk\/core\/dist-es\/submodules\/client\/middleware-user-agent\/user-agent-middleware\.js$/,
    contents: () =>
      `
      const nothing = { applyToStack: () => {} };
      export const getUserAgentPlugin = () => nothing;
      export const getUserAgentMiddlewareOptions = nothing;
      export const userAgentMiddleware = nothing;`,
  },
  {
    // What the user agent above is made of.
    name: "parts of the user agent",
    file: /@aws-sdk\/core\/dist-es\/submodules\/client\/(middleware-user-agent\/configurations|util-user-agent-node\/defaultUserAgent)\.js$/,
    contents: () =>
      `
      export const DEFAULT_UA_APP_ID = undefined;
      export const resolveUserAgentConfig = (config) => config;
      export const crtAvailability = { isCrtAvailable: false };
      export const createDefaultUserAgentProvider = () => async () => [];
      export const defaultUserAgent = createDefaultUserAgentProvider;`,
  },
  {
    // Logs every command; our clients have no logger.
    name: "command logger",
    file: /@aws-sdk\/core\/dist-es\/submodules\/client\/middleware-logger\/loggerMiddleware\.js$/,
    contents: () =>
      `
      const nothing = { applyToStack: () => {} };
      export const getLoggerPlugin = () => nothing;
      export const loggerMiddlewareOptions = nothing;
      export const loggerMiddleware = nothing;`,
  },
  {
    // Hides secrets in what the command logger logs, which is left out.
    name: "filter of the command logger",
    file: new RegExp(String.raw`${SMITHY}\/client\/smithy-client\/schemaLogFilter\.js$`),
    contents: () => "export const schemaLogFilter = (schema, data) => data;",
  },
  {
    // zod's own messages; the schemas and `validate.ts` have ours.
    name: "English messages of zod",
    file: /zod\/v4\/locales\/en\.js$/,
    contents: () => 'export default () => ({ localeError: () => "is not valid" });',
  },
  {
    // For signing streams of events.
    name: "signatures of event streams",
    file: /@smithy\/signature-v4\/dist-es\/HeaderFormatter\.js$/,
    contents: () => 'export class HeaderFormatter { format() { throw new Error("Event streams are left out of the bundles"); } }',
  },
  {
    // For signing streams of events, too.
    name: "signatures of events",
    file: /@smithy\/signature-v4\/dist-es\/SignatureV4\.js$/,
    contents: async (path) => withEmptyMethods(await readFile(path, "utf8"), /^sign(Event|Message|String)$/),
  },
  {
    // AWS partitions that the service does not support: China, governments, sovereign clouds.
    name: "other partitions of AWS",
    file: /@aws-sdk\/core\/dist-es\/submodules\/client\/util-endpoints\/lib\/aws\/partitions\.js$/,
    contents: () =>
      `
      const outputs = { dnsSuffix: "amazonaws.com", dualStackDnsSuffix: "api.aws", implicitGlobalRegion: "us-east-1", name: "aws", supportsDualStack: true, supportsFIPS: true };
      export const partitionsInfo = { partitions: [{ id: "aws", outputs, regionRegex: ".", regions: {} }], version: "1.1" };`,
  },
  {
    // Which trace an invocation belongs to, where several run at once in one process: ours run one at a time, and `_X_AMZN_TRACE_ID` names it.
    name: "invocations side by side",
    file: /@aws\/lambda-invoke-store\/dist-es\/invoke-store\.js$/,
    contents: () => "export const InvokeStore = { getInstanceAsync: async () => undefined };",
  },
  {
    // Parses objects that contain themselves; JSON has none.
    name: "cycles in zod",
    file: /zod\/v4\/core\/memoizer\.js$/,
    contents: () => `
      export class $ZodCyclicError extends Error {}
      export const [memoizer, isBackEdge, isRecursiveSchema] = Array(3).fill(() => undefined);`,
  },
  {
    // Private keys of SSH that are encrypted with a passphrase; ours are not.
    name: "passphrases of SSH keys",
    file: /bcrypt-pbkdf\/index\.js$/,
    contents: () => 'exports.pbkdf = () => { throw new Error("Passphrases of SSH keys are left out of the bundles"); };',
  },
  {
    // Calls functions when a schedule is due, and finds times in the past; we ask for the next ones only.
    name: "jobs and past times of schedules",
    file: /croner\/dist\/croner\.js$/,
    contents: async (path) =>
      withEmptyMethods(
        await readFile(path, "utf8"),
        /^(_schedule|_trigger|_checkTrigger|_previous|_previousTarget|_calculatePreviousRun|recurseBackward|recurseBackwardStep)$/,
      ),
  },
  {
    // For the API description, which is created together with the bundles: `describeApi`.
    name: "JSON Schema of zod",
    file: /zod\/v4\/core\/(json-schema-processors|to-json-schema|json-schema-generator)\.js$/,
    contents: throwing,
  },
  {
    // A zod schema has every method that any schema can have; bundlers cannot tell which of them are called.
    // zod/mini has none, but we would have to write every schema in its functions.
    // And of a namespace that is passed on they keep everything.
    name: "methods of zod's schemas that nobody calls",
    file: /zod\/v4\/classic\/schemas\.js$/,
    contents: async (path) =>
      withoutUnusedMethods(await readFile(path, "utf8"), sources())
        .replace('import { util } from "../core/index.js";', 'import * as util from "../core/util.js";')
        .replaceAll("core.util.", "util."),
  },
  {
    // A client reads only its version from it.
    name: "package.json of clients",
    file: new RegExp(String.raw`${CLIENT}\/package\.json$`),
    contents: async (path) => {
      const { version } = z.object({ version: z.string() }).parse(JSON.parse(await readFile(path, "utf8")));
      return `export default ${JSON.stringify({ version })};`;
    },
  },
  {
    // Rules for every partition, FIPS, dual stack and account of AWS.
    name: "endpoint rules",
    file: new RegExp(String.raw`${CLIENT}\/dist-es\/endpoint\/endpointResolver\.js$`),
    contents: (path) => {
      const host = HOSTS[new RegExp(CLIENT).exec(path)?.[1] ?? ""];
      return `export const defaultEndpointResolver = ({ Endpoint, Region }) => ({ url: new URL(Endpoint ?? \`https://${host}.\${Region}.amazonaws.com\`) });`;
    },
  },
  {
    // A client knows some 30 errors, and we distinguish a few. The rest become the service's general exception, with their name. It also has
    // the schemas of all its commands, of which a function sends a few: the SDK's build does not mark them as free of side effects.
    name: "errors and commands of clients that nobody uses",
    file: new RegExp(String.raw`${CLIENT}\/dist-es\/schemas\/schemas_0\.js$`),
    contents: async (path) => withPureArrays(withoutErrors(await readFile(path, "utf8"), sources())),
  },
];

export const leaveOut = (standIns: readonly StandIn[] = STAND_INS): Plugin => ({
  name: "leave out",
  setup(esbuild) {
    for (const { file, contents } of standIns)
      esbuild.onLoad({ filter: file }, async ({ path }) => ({ contents: await contents(path) }));

    // The descriptions of schemas are for the API description.
    esbuild.onLoad({ filter: /\/shared\/.*\.ts$/ }, async ({ path, suffix }) => ({
      contents:
        suffix === LEFT_OUT
          ? await throwing(path)
          : shakeable(withPlainSchemasOnce(withoutCalls(withoutParts(await readFile(path, "utf8"), suffix), "meta"))),
      loader: "ts",
    }));
    esbuild.onResolve({ filter: new RegExp(`^${ONCE}`) }, ({ path }) => ({ path: path.slice(ONCE.length), namespace: ONCE }));
    esbuild.onLoad({ filter: /.*/, namespace: ONCE }, ({ path }) => ({ contents: onceModule(path), resolveDir: ROOT }));
    esbuild.onLoad({ filter: /\/functions\/.*\.ts$/ }, async ({ path }) => ({
      contents: withOwnEndpoint(await readFile(path, "utf8"), path),
      loader: "ts",
    }));

    // What `handle` needs for bodies, for stored responses (with them the client of Secrets Manager) and for methods that the path lacks,
    // where the endpoint has none of them.
    const withSuffix = ({ path, resolveDir }: OnResolveArgs) => {
      const [file = "", suffix] = path.split(/(?=\?)/);
      return { path: join(resolveDir, file), ...(suffix !== undefined && { suffix }) };
    };
    esbuild.onResolve({ filter: /\/handle\.ts\?without=/ }, withSuffix);
    esbuild.onResolve({ filter: /\.ts\?left-out$/ }, withSuffix);
  },
});

/** A module whose functions have the names of another's, and throw when called. */
async function throwing(path: string): Promise<string> {
  const original: unknown = await import(path);
  const names = Object.keys(z.looseObject({}).parse({ ...Object(original) }));
  return `
    function thrower() { throw new Error("This is left out of the bundles"); }
    export { ${names.map((name) => `thrower as ${name}`).join(", ")} };`;
}

/** The text of all our code that may be in a bundle. */
function sources(): string {
  const root = resolve(import.meta.dirname, "..");
  const files = ["shared", "functions"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => join(root, folder, file)),
  );
  return files.map((file) => readFileSync(file, "utf8")).join("\n");
}
