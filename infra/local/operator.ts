// The operator's settings on one machine, from their environment variables: how mail is sent, and in live providers, machines and
// their own store. Those of providers override the secret `providers`.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { type Configuration, type ConfiguredProvider, parseConfiguration } from "../../shared/platform/configuration.ts";
import type { Brand } from "../dashboard-headers.ts";
import { LocalError } from "./errors.ts";

/** The variable of each provider; docs/live.md says what is in it. */
export const PROVIDER_VARIABLES: Readonly<Record<ConfiguredProvider, string>> = {
  hetzner: "HETZNER_TOKEN",
  digitalocean: "DIGITALOCEAN_TOKEN",
  byo: "BYO_MACHINES",
};

type Variables = Readonly<Record<string, string | undefined>>;

/** Parts of the secret `providers`, under their names there. */
type Configured = Readonly<Record<string, unknown>>;

export function configurationFrom(variables: Variables): Configured {
  const { HETZNER_TOKEN, DIGITALOCEAN_TOKEN, BYO_MACHINES, ENTERPRISE_SOURCE, TLS, ACME_EMAIL, OPEN_NETWORKS, POSTGRES_IMAGE } =
    variables;
  const { REGISTRY_MIRROR, REGISTRY_USERNAME, REGISTRY_PASSWORD } = variables;
  const registry = { mirror: REGISTRY_MIRROR, username: REGISTRY_USERNAME, password: REGISTRY_PASSWORD };
  const sections: Record<keyof Configuration, unknown> = {
    hetzner: HETZNER_TOKEN && { token: HETZNER_TOKEN },
    digitalocean: DIGITALOCEAN_TOKEN && { token: DIGITALOCEAN_TOKEN },
    byo: BYO_MACHINES && { machines: machinesIn(BYO_MACHINES) },
    enterprise_source: ENTERPRISE_SOURCE,
    tls: TLS,
    acme_email: ACME_EMAIL,
    open_networks: OPEN_NETWORKS && OPEN_NETWORKS.trim().split(/[\s,]+/),
    postgres_image: POSTGRES_IMAGE,
    registry: Object.values(registry).some((value) => value !== undefined && value !== "") ? emptyLeftOut(registry) : undefined,
  };
  const configured = emptyLeftOut(sections);
  try {
    parseConfiguration(JSON.stringify(configured));
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new LocalError(`The environment variables for providers are invalid. ${message}`, { cause });
  }
  return configured;
}

const emptyLeftOut = (values: Configured): Configured =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== ""));

/** A list of machines, or the path of its file. */
function machinesIn(text: string): unknown {
  const isFile = !text.trimStart().startsWith("[");
  if (isFile && !existsSync(text)) throw new LocalError(`BYO_MACHINES is neither a list ([{"name": …}]) nor an existing file`);
  try {
    return JSON.parse(isFile ? readFileSync(text, "utf8") : text);
  } catch (cause) {
    throw new LocalError("BYO_MACHINES is not JSON", { cause });
  }
}

/** SMTP, and STARTTLS or TLS from the beginning. */
const Smtp = z.object({
  SMTP_URL: z.url({ protocol: /^smtps?$/ }),
  MAIL_SENDER: z.string().regex(/^[\w.+-]{1,64}@[A-Za-z0-9.-]+$/),
});

/** How mail leaves this machine: variables for the function that sends it. Without SMTP_URL, mails are files. */
export function mailFrom(variables: Variables, dataDir: string, brand: Brand | null): Record<string, string> {
  const MAIL_BRAND = JSON.stringify(brand === null ? {} : { name: brand.name, color: brand.color });
  if (!variables["SMTP_URL"]) return { MAIL_BRAND, MAIL_DIRECTORY: join(dataDir, "mails") };
  const parsed = Smtp.safeParse(variables);
  // The message leaves out the value, because it has a password.
  if (!parsed.success)
    throw new LocalError(
      parsed.error.issues.some(({ path }) => path.join() === "SMTP_URL")
        ? "SMTP_URL must be smtp://USER:PASSWORD@HOST:587 or smtps://USER:PASSWORD@HOST:465"
        : "SMTP_URL also requires MAIL_SENDER, the address that mails come from",
    );
  return { MAIL_BRAND, ...parsed.data };
}

const Store = z.object({
  /** Archives are not encrypted by themselves, so the connection must be, unless it stays on this machine. */
  BACKUP_S3_ENDPOINT: z.url({ protocol: /^https$/ }).or(z.url({ hostname: /^(127\.0\.0\.1|localhost)$/ })),
  BACKUP_S3_BUCKET: z.string().min(3),
  BACKUP_S3_REGION: z.string().min(1).default("us-east-1"),
  BACKUP_S3_ACCESS_KEY_ID: z.string().min(1),
  BACKUP_S3_SECRET_ACCESS_KEY: z.string().min(1),
});

/** Returns where backups go instead of this machine, as variables for the functions that store them. */
export function storeFrom(variables: Variables): Record<string, string> | undefined {
  if (!variables["BACKUP_S3_ENDPOINT"]) return undefined;
  const parsed = Store.safeParse(variables);
  if (!parsed.success) {
    const wrong = parsed.error.issues.map(({ path }) => path.join());
    throw new LocalError(
      wrong.includes("BACKUP_S3_ENDPOINT")
        ? "BACKUP_S3_ENDPOINT must be a URL that begins with https://, unless it is on this machine"
        : `BACKUP_S3_ENDPOINT also requires: ${wrong.join(", ")}`,
    );
  }
  const { BACKUP_S3_BUCKET, ...rest } = parsed.data;
  return { BACKUP_BUCKET: BACKUP_S3_BUCKET, ...rest };
}
