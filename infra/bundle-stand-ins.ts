// The modules of libraries that bundles have a small one for, because ours never use them and loading code is most of a cold
// start. Each is replaced as a whole, and nothing else is edited: all other code runs as it was written, but for the values that
// generated-modules.ts computes before. Bundling fails if a stand-in lacks an export that is imported.
import type { Plugin } from "rolldown";
import * as z from "zod";

export interface StandIn {
  /** What is left out. */
  name: string;
  /** The module, by the end of its path. */
  file: RegExp;
  contents: (path: string) => string | Promise<string>;
}

const refusing = (subject: string): string => `() => { throw new Error("${subject} are left out of the bundles"); }`;

/** Clients whose only endpoints are `https://NAME.REGION.amazonaws.com` and AWS_ENDPOINT_URL. */
const HOSTS: Readonly<Record<string, string>> = {
  dynamodb: "dynamodb",
  sfn: "states",
  "secrets-manager": "secretsmanager",
  sesv2: "email",
  lambda: "lambda",
};

export const STAND_INS: readonly StandIn[] = [
  {
    // Lambda passes credentials in the environment, which ends before they do. The SDK would look for files, SSO and metadata
    // services, too.
    name: "sources of credentials",
    file: /@aws-sdk\/credential-provider-node\/dist-es\/index\.js$/,
    contents: () => `
      export const defaultProvider = () => async () => {
        const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken } = process.env;
        if (accessKeyId === undefined || secretAccessKey === undefined) throw new Error("The environment has no AWS credentials");
        return sessionToken === undefined ? { accessKeyId, secretAccessKey } : { accessKeyId, secretAccessKey, sessionToken };
      };`,
  },
  {
    // Rules for every partition, FIPS, dual stack and account of AWS.
    name: "endpoint rules",
    file: new RegExp(String.raw`@aws-sdk\/client-(${Object.keys(HOSTS).join("|")})\/dist-es\/endpoint\/endpointResolver\.js$`),
    contents: (path) => {
      const host = HOSTS[/client-([\w-]+)/.exec(path)?.[1] ?? ""];
      return `export const defaultEndpointResolver = ({ Endpoint, Region }) => ({ url: new URL(Endpoint ?? \`https://${host}.\${Region}.amazonaws.com\`) });`;
    },
  },
  {
    // A DynamoDB client can ask for its endpoint; none of ours does.
    name: "endpoint discovery",
    file: /@aws-sdk\/middleware-endpoint-discovery\/dist-es\/index\.js$/,
    contents: () => `
      export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = { environmentVariableSelector: () => false, configFileSelector: () => false, default: false };
      export const resolveEndpointDiscoveryConfig = (config) => config;`,
  },
  {
    // This is only for the API description, which is made together with the bundles.
    name: "JSON Schema of zod",
    file: /zod\/v4\/core\/(json-schema-processors|to-json-schema|json-schema-generator)\.js$/,
    contents: throwing,
  },
  {
    // S3 Select and its like.
    name: "event streams of S3",
    file: /@smithy\/core\/dist-es\/submodules\/event-streams\/index\.js$/,
    contents: () => `
      export const resolveEventStreamSerdeConfig = (config) => config;
      export const eventStreamSerdeProvider = ${refusing("Event streams")};
      export class EventStreamSerde { constructor() { eventStreamSerdeProvider(); } }`,
  },
  {
    // Our private keys have none.
    name: "passphrases of SSH keys",
    file: /bcrypt-pbkdf\/index\.js$/,
    contents: () => `exports.pbkdf = ${refusing("Passphrases of SSH keys")};`,
  },
];

/** A module whose functions have the names of another's, and throw when called. */
async function throwing(path: string): Promise<string> {
  const original: unknown = await import(path);
  const names = Object.keys(z.looseObject({}).parse({ ...Object(original) }));
  return `
    function thrower() { throw new Error("This is left out of the bundles"); }
    export { ${names.map((name) => `thrower as ${name}`).join(", ")} };`;
}

export const standInPlugin = (standIns: readonly StandIn[]): Plugin => ({
  name: "stand-ins",
  load: {
    filter: { id: standIns.map(({ file }) => file) },
    handler: async (id) => ({ code: (await standIns.find(({ file }) => file.test(id))?.contents(id)) ?? "", moduleType: "js" }),
  },
});
