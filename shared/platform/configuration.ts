// The configuration of the live environment's operator: credentials of providers, their own machines, where the enterprise
// edition comes from. Only functions that need it may read it.
import { isIP, isIPv4 } from "node:net";
import * as z from "zod";
import { parseJson } from "../domain/json.ts";
import { createSecretReader } from "./secret-reader.ts";

// zod has its own formats for these; here they would be in every function's bundle.
const webAddress = z.string().refine(isSafe, "must be a URL that starts with https://");

/** Requests contain tokens, so the URL is encrypted, or on this machine. */
function isSafe(address: string): boolean {
  const { protocol, hostname } = URL.parse(address) ?? {};
  return protocol === "https:" || (protocol === "http:" && hostname === "127.0.0.1");
}

/** An address, or one with the length of its prefix. */
function isNetwork(text: string): boolean {
  const [address = "", bits = "32", ...more] = text.split("/");
  const bitsMax = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  return bitsMax > 0 && !address.includes("%") && /^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax && more.length === 0;
}

/** `address` is for operators who reach the provider at another URL. */
const Account = z.strictObject({ token: z.string().min(1), address: webAddress.optional() });

const OwnMachine = z.strictObject({
  /** Its name in the catalog, as a size. */
  name: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, "must contain only lowercase letters, digits, dots and hyphens"),
  /** IPv4, because the domains of its instances point to it by an A record. */
  address: z.string().refine(isIPv4, "must be an IPv4 address"),
  port: z.number().int().min(1).max(65_535).default(22),
  /** The line of /etc/ssh/ssh_host_ed25519_key.pub, or of another type's. */
  host_key: z.string().regex(/^(ssh|ecdsa)-[a-z0-9-]+ [A-Za-z0-9+/=]+( .*)?$/, "must be the public key line of a host key"),
  cpu: z.number().int().positive(),
  memory_gb: z.number().int().positive(),
  disk_gb: z.number().int().positive(),
  /** Whether the service sets up a firewall there; not on a machine that is for other things, too. */
  firewall: z.boolean().default(true),
});
export type OwnMachine = z.infer<typeof OwnMachine>;

/** Where machines come from. */
const PROVIDERS = {
  hetzner: Account.optional(),
  digitalocean: Account.optional(),
  byo: z
    .strictObject({
      machines: z
        .array(OwnMachine)
        .refine((machines) => new Set(machines.map(({ name }) => name)).size === machines.length, "must have different names")
        // A server clears its machine of another one's data: two names for one machine would delete data.
        .refine((machines) => new Set(machines.map(({ address }) => address)).size === machines.length, "must be different"),
    })
    .optional(),
};
export type ConfiguredProvider = keyof typeof PROVIDERS;

export const Configuration = z.strictObject({
  ...PROVIDERS,
  /** The URL of an archive of the enterprise edition; `{version}` stands for 19.0 and the like. */
  enterprise_source: webAddress.refine((source) => source.includes("{version}"), "must contain {version}").optional(),
  /** `internal`: certificates of the machine's own authority, for where the public one cannot come. */
  tls: z.enum(["acme", "internal"]).default("acme"),
  acme_email: z.email().optional(),
  /** Networks and addresses that the ERPs' containers reach although they are private, or by port 25: mail relays, printers. */
  open_networks: z.array(z.string().refine(isNetwork, "must be an address or a network such as 192.168.1.0/24")).default([]),
  /**
   * PostgreSQL's image for new instances, drills and imports, as the official one with version 16 or later. The default has
   * pgvector.
   */
  postgres_image: z
    .string()
    .regex(/^[a-z0-9][A-Za-z0-9._/:@-]{0,254}$/, "must be the name of an image")
    .default("pgvector/pgvector:pg16"),
  /** The registry from which the images of Docker Hub come, and credentials for that or, without a mirror, for Docker Hub. */
  registry: z
    .strictObject({
      mirror: z
        .string()
        .regex(/^[a-z0-9][a-z0-9.-]*(:\d{1,5})?(\/[a-z0-9][a-z0-9._-]*)*$/, "must be a host, with a port and a path if needed")
        .optional(),
      username: z.string().min(1).optional(),
      password: z.string().min(1).optional(),
    })
    .refine(({ username, password }) => (username === undefined) === (password === undefined), "must have both or neither")
    .optional(),
});
export type Configuration = z.infer<typeof Configuration>;

export const configuration: () => Promise<Configuration> = createSecretReader("PROVIDERS_SECRET", parseConfiguration);

/** The configuration is invalid until the operator corrects it: work that is going on waits, and nothing is undone by halves. */
class InvalidConfiguration extends Error {
  override name = "InvalidConfiguration";
}

/** Reports the error and its place, but never the value: it may be a token in the wrong place. */
export function parseConfiguration(text: string): Configuration {
  const json = parseJson(text);
  if (json === undefined) throw new InvalidConfiguration("The secret `providers` is invalid: it is not JSON");
  const parsed = Configuration.safeParse(json);
  if (parsed.success) return parsed.data;
  const wrong = parsed.error.issues.map(({ path, code }) => `${path.join(".") || "the secret as a whole"} (${code})`);
  throw new InvalidConfiguration(`The secret \`providers\` is invalid: ${wrong.join(", ")}`);
}
