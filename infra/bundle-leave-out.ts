// What the SDK and zod bring along and no function of ours uses, left out of the bundles: loading code is most of a cold start.
// A stand-in lacks nothing that is imported, or esbuild fails: an update of the SDK that needs more is noticed here.
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Plugin } from "esbuild";
import * as z from "zod";
import { shakeable, withOwnEndpoint } from "./bundle-shake.ts";

const SMITHY = String.raw`@smithy\/core\/dist-es\/submodules`;

/** Ends of files' paths in node_modules, and what stands in for them. */
const LEFT_OUT: readonly { file: RegExp; contents: string }[] = [
  {
    // Streams of events (S3 Select, Kinesis), in every client.
    file: new RegExp(String.raw`${SMITHY}\/event-streams\/index\.js$`),
    contents: `
      export const resolveEventStreamSerdeConfig = (config) => config;
      export const eventStreamSerdeProvider = () => { throw new Error("Event streams are left out of the bundles"); };
      export class EventStreamSerde { constructor() { eventStreamSerdeProvider(); } }`,
  },
  {
    // A DynamoDB client can ask where to connect to; nobody does.
    file: /@aws-sdk\/middleware-endpoint-discovery\/dist-es\/index\.js$/,
    contents: `
      export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = { environmentVariableSelector: () => false, configFileSelector: () => false, default: false };
      export const resolveEndpointDiscoveryConfig = (config) => config;`,
  },
  {
    // SHA-256 in JavaScript, for where Node has none.
    file: new RegExp(String.raw`${SMITHY}\/checksum\/sha256\/Sha256Js\.js$`),
    contents: "export class Sha256Js {}",
  },
  {
    // Retries that slow a whole client down, which nobody asks for.
    file: new RegExp(String.raw`${SMITHY}\/retry\/util-retry\/AdaptiveRetryStrategy\.js$`),
    contents:
      'export class AdaptiveRetryStrategy { constructor() { throw new Error("Adaptive retries are left out of the bundles"); } }',
  },
  {
    // Lambda has neither ~/.aws/config nor an instance's metadata; looking for them costs time, too.
    file: new RegExp(String.raw`${SMITHY}\/config\/shared-ini-file-loader\/loadSharedConfigFiles\.js$`),
    contents: `
      export const CONFIG_PREFIX_SEPARATOR = ".";
      export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} });`,
  },
  {
    file: new RegExp(String.raw`${SMITHY}\/config\/config-resolver\/regionConfig\/getInstanceMetadataRegion\.js$`),
    contents: "export const getInstanceMetadataRegion = async () => undefined;",
  },
  {
    // Says to AWS which SDK asks, and from which of its features.
    file: /@aws-sdk\/core\/dist-es\/submodules\/client\/middleware-user-agent\/user-agent-middleware\.js$/,
    contents: `
      const nothing = { applyToStack: () => {} };
      export const getUserAgentPlugin = () => nothing;
      export const getUserAgentMiddlewareOptions = nothing;
      export const userAgentMiddleware = nothing;`,
  },
  {
    // Logs every command; our clients are given no logger.
    file: /@aws-sdk\/core\/dist-es\/submodules\/client\/middleware-logger\/loggerMiddleware\.js$/,
    contents: `
      const nothing = { applyToStack: () => {} };
      export const getLoggerPlugin = () => nothing;
      export const loggerMiddlewareOptions = nothing;
      export const loggerMiddleware = nothing;`,
  },
  {
    // zod's sentences about what is wrong with a value; the schemas and `validate.ts` have their own.
    file: /zod\/v4\/locales\/en\.js$/,
    contents: 'export default () => ({ localeError: () => "is not valid" });',
  },
  {
    // For signing streams of events.
    file: /@smithy\/signature-v4\/dist-es\/HeaderFormatter\.js$/,
    contents: 'export class HeaderFormatter { format() { throw new Error("Event streams are left out of the bundles"); } }',
  },
  {
    // The partitions of AWS that the service is not for: China, governments, sovereign clouds.
    file: /@aws-sdk\/core\/dist-es\/submodules\/client\/util-endpoints\/lib\/aws\/partitions\.js$/,
    contents: `
      const outputs = { dnsSuffix: "amazonaws.com", dualStackDnsSuffix: "api.aws", implicitGlobalRegion: "us-east-1", name: "aws", supportsDualStack: true, supportsFIPS: true };
      export const partitionsInfo = { partitions: [{ id: "aws", outputs, regionRegex: ".", regions: {} }], version: "1.1" };`,
  },
];

/** Clients whose only addresses are `https://NAME.REGION.amazonaws.com` and what AWS_ENDPOINT_URL says. */
const HOSTS: Readonly<Record<string, string>> = { dynamodb: "dynamodb", sfn: "states", "secrets-manager": "secretsmanager" };
const CLIENT = String.raw`@aws-sdk\/client-(${Object.keys(HOSTS).join("|")})`;

export const leaveOut: Plugin = {
  name: "leave out",
  setup(esbuild) {
    const ours = sources();
    for (const { file, contents } of LEFT_OUT) esbuild.onLoad({ filter: file }, () => ({ contents }));

    // JSON Schema is for the API's description, which is made with the bundles: `describeApi`.
    esbuild.onLoad(
      { filter: /zod\/v4\/core\/(json-schema-processors|to-json-schema|json-schema-generator)\.js$/ },
      async ({ path }) => ({
        contents: await refusals(path),
      }),
    );
    esbuild.onLoad({ filter: /\/shared\/.*\.ts$/ }, async ({ path }) => ({
      contents: shakeable(withoutWords(path, withoutCalls(await readFile(path, "utf8"), ".meta("))),
      loader: "ts",
    }));
    esbuild.onLoad({ filter: /\/functions\/.*\.ts$/ }, async ({ path }) => ({
      contents: withOwnEndpoint(await readFile(path, "utf8"), path),
      loader: "ts",
    }));

    // A schema of zod has every method that any schema can have; bundlers cannot tell which of them are called.
    esbuild.onLoad({ filter: /zod\/v4\/classic\/schemas\.js$/ }, async ({ path }) => {
      const original = await readFile(path, "utf8");
      const called = `${ours}\n${original.replaceAll(METHOD, (method) => method.slice(method.indexOf("{")))}`;
      const calls = new Set(called.match(/(?<=\.)\w+\b/g));
      return { contents: original.replaceAll(METHOD, (method, name: string) => (calls.has(name) ? method : "")) };
    });

    // A client reads its version out of it, and nothing else.
    esbuild.onLoad({ filter: new RegExp(String.raw`${CLIENT}\/package\.json$`) }, async ({ path }) => {
      const { version } = z.object({ version: z.string() }).parse(JSON.parse(await readFile(path, "utf8")));
      return { contents: `export default ${JSON.stringify({ version })};` };
    });

    // Rules for every partition, FIPS, dual stack and account of AWS.
    esbuild.onLoad({ filter: new RegExp(String.raw`${CLIENT}\/dist-es\/endpoint\/endpointResolver\.js$`) }, ({ path }) => {
      const host = HOSTS[new RegExp(CLIENT).exec(path)?.[1] ?? ""];
      return {
        contents: `export const defaultEndpointResolver = ({ Endpoint, Region }) => ({ url: new URL(Endpoint ?? \`https://${host}.\${Region}.amazonaws.com\`) });`,
      };
    });

    // A client knows some 30 errors, of which we tell a few apart. The rest are the service's general exception, with their name.
    esbuild.onLoad({ filter: new RegExp(String.raw`${CLIENT}\/dist-es\/schemas\/schemas_0\.js$`) }, async ({ path }) => {
      const original = await readFile(path, "utf8");
      const known = original.replaceAll(/^n0_registry\.registerError\(\w+\$, (\w+)\);$/gm, (line, name: string) =>
        ours.includes(name) ? line : "",
      );
      // esbuild keeps what has computed keys, used or not, unless it is told that computing them does nothing.
      const contents = known.replaceAll(/^((?:export )?var \w+\$? = )(\[.*?\]);$/gms, "$1/* @__PURE__ */ (() => $2)();");
      return { contents };
    });
  },
};

/** A method in an object of methods, as zod's build writes them. */
const METHOD = /^ {4}(?:async )?(\w+)\([^\n]*\) \{\n.*?\n {4}\},?\n/gms;

/** TypeScript without the calls of a method that only returns what it is called on. */
function withoutCalls(source: string, call: string): string {
  let rest = source;
  let result = "";
  for (let at = rest.indexOf(call); at >= 0; at = rest.indexOf(call)) {
    result += rest.slice(0, at);
    rest = rest.slice(at + call.length);
    rest = rest.slice(closing(rest));
  }
  return result + rest;
}

/** What endpoints say of themselves to readers is for the API's description, too. */
const withoutWords = (path: string, source: string): string =>
  /\/shared\/api\/[\w-]+\.ts$/.test(path) ? source.replaceAll(WORDS, "") : source;
const WORDS = /^ {4}(?:summary|description):\s*"(?:[^"\\]|\\.)*"(?:\s*\+\s*"(?:[^"\\]|\\.)*")*,$/gm;

/** Where the parenthesis is closed that was opened before, quoted ones aside. */
function closing(source: string): number {
  let depth = 1;
  for (const token of source.matchAll(/"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|[()]/g)) {
    if (token[0] === "(") depth += 1;
    if (token[0] === ")") depth -= 1;
    if (depth === 0) return token.index + 1;
  }
  throw new Error(`A parenthesis is not closed: ${source.slice(0, 80)}`);
}

/** A module whose functions have the names of another's, and throw when called. */
async function refusals(path: string): Promise<string> {
  const original: unknown = await import(path);
  const names = Object.keys(z.looseObject({}).parse({ ...Object(original) }));
  return names
    .map(
      (name) =>
        `const _${name} = () => { throw new Error("${name} is left out of this bundle"); };\nexport { _${name} as ${name} };`,
    )
    .join("\n");
}

/** The text of all that is ours and may be in a bundle. */
function sources(): string {
  const root = resolve(import.meta.dirname, "..");
  const files = ["shared", "functions"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => join(root, folder, file)),
  );
  return files.map((file) => readFileSync(file, "utf8")).join("\n");
}
