// The registry that machines pull the ERP's images from: Docker Hub, or the operator's mirror of it. Only its newest image of a
// version is looked up here; nothing is pulled.
import * as z from "zod";
import type { Configuration } from "../platform/configuration.ts";
import type { NewestImage } from "../records/newest-images.ts";
import { readBody } from "./http.ts";

type Registry = Configuration["registry"];

const DOCKER_HUB = "registry-1.docker.io";
const SECONDS = 10;

/** Processors of the machines that ERPs run on. */
const PROCESSORS: readonly string[] = ["amd64", "arm64"];

const TYPES = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
].join(", ");

const Digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const Manifest = z.object({ config: z.object({ digest: Digest }) });
const Index = z.object({
  manifests: z.array(
    z.object({
      digest: z.string(),
      platform: z.object({ os: z.string(), architecture: z.string() }).nullish().catch(undefined),
    }),
  ),
});
const Created = z.object({ created: z.coerce.date().transform((date) => date.toISOString()) });

/** The registry has nothing of that name. */
export class NoSuchImage extends Error {
  override name = "NoSuchImage";
}

/** What the registry has under a version's name now. `previous` is what it had: if it is the same, the rest need not be read. */
export async function lookUpImage(
  version: string,
  registry: Registry,
  previous: NewestImage | undefined,
): Promise<Omit<NewestImage, "checked_at">> {
  const ask = await connect(registry, "odoo");
  const head = await ask("HEAD", `manifests/${version}`);
  const digest = Digest.parse(head.headers.get("docker-content-digest"));
  if (previous?.digest === digest) return previous;
  // The digest is used because there may be a newer image by now.
  const listed = await readManifest(ask, digest);
  const images = Array.isArray(listed) ? listed : [digest];
  const manifests = Array.isArray(listed) ? await Promise.all(listed.map((each) => readManifest(ask, each))) : [listed];
  const configs = manifests.map((each) => Manifest.parse(each).config.digest);
  const [config] = configs;
  if (config === undefined) throw new Error(`The registry has no image of ${version} for ${PROCESSORS.join(" or ")}`);
  return {
    version,
    digest,
    ids: [...new Set([digest, ...images, ...configs])],
    created_at: Created.parse(await (await ask("GET", `blobs/${config}`)).json()).created,
  };
}

/** An image's manifest; of a list, the digests of those for our processors. */
async function readManifest(ask: Ask, digest: string): Promise<z.infer<typeof Manifest> | string[]> {
  const manifest = z.union([Index, Manifest]).parse(await (await ask("GET", `manifests/${digest}`)).json());
  if ("config" in manifest) return manifest;
  return manifest.manifests
    .filter(({ platform }) => platform?.os === "linux" && PROCESSORS.includes(platform.architecture))
    .map((each) => Digest.parse(each.digest))
    .slice(0, PROCESSORS.length);
}

type Ask = (method: "HEAD" | "GET", path: string) => Promise<{ headers: Headers; json: () => Promise<unknown> }>;

/**
 * Connects, with a token if the registry wants one: credentials go only to the registry, and to where it says that tokens are.
 */
async function connect(registry: Registry, image: string): Promise<Ask> {
  const [host = "", ...path] = (registry?.mirror ?? DOCKER_HUB).split("/");
  const repository = [...path, "library", image].join("/");
  const credentials = basicCredentials(registry);
  const base = `${schemeFor(host)}://${host}/v2/${repository}`;
  let authorization: string | undefined;
  const send = (method: "HEAD" | "GET", url: string): Promise<Response> =>
    fetch(url, {
      method,
      // The blobs of most registries are elsewhere; `fetch` sends no credentials there.
      headers: { accept: TYPES, ...(authorization !== undefined && { authorization }) },
      signal: AbortSignal.timeout(SECONDS * 1000),
    });
  return async (method, path) => {
    const url = `${base}/${path}`;
    let response = await send(method, url);
    if (response.status === 401 && authorization === undefined) {
      authorization = await authorize(response.headers.get("www-authenticate") ?? "", credentials);
      response = await send(method, url);
    }
    const message = `The registry ${host} responds with ${response.status} to ${method} ${path}`;
    if (response.status === 404) throw new NoSuchImage(message);
    if (!response.ok) throw new Error(message);
    return { headers: response.headers, json: async (): Promise<unknown> => JSON.parse(await readBody(response)) };
  };
}

/** Chooses the scheme as Docker does: only a registry on this machine may do without TLS. */
const schemeFor = (host: string): string => (/^(127\.0\.0\.1|localhost)(:|$)/.test(host) ? "http" : "https");

function basicCredentials(registry: Registry): string | undefined {
  const { username, password } = registry ?? {};
  return username === undefined ? undefined : `Basic ${Buffer.from(`${username}:${password ?? ""}`).toString("base64")}`;
}

const Token = z
  .object({ token: z.string().optional(), access_token: z.string().optional() })
  .transform(({ token, access_token }) => token ?? access_token);

async function authorize(challenge: string, credentials: string | undefined): Promise<string | undefined> {
  if (/^basic /i.test(challenge)) return credentials;
  const { realm = "", ...parameters }: Record<string, string> = Object.fromEntries(
    [...challenge.matchAll(/(realm|service|scope)="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, value]),
  );
  const url = URL.parse(realm);
  if (url?.protocol !== `${schemeFor(url?.host ?? "")}:`) throw new Error("The registry does not say where its tokens are");
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const response = await fetch(url, {
    redirect: "error",
    headers: { ...(credentials !== undefined && { authorization: credentials }) },
    signal: AbortSignal.timeout(SECONDS * 1000),
  });
  if (!response.ok) throw new Error(`The registry gives no token: ${response.status}`);
  return `Bearer ${Token.parse(JSON.parse(await readBody(response))) ?? ""}`;
}
