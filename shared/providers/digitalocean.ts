// DigitalOcean: https://docs.digitalocean.com/reference/api
//
// Nothing there is unique and no request idempotent, and lists may be late: the tag and the name are looked up before each try,
// and a try whose outcome is unknown is waited for (`settleSeconds`) before the next.
import * as z from "zod";
import type { CatalogProvider } from "../api/catalog.ts";
import { amount, canHostErp, formatPrice, isPresent } from "./offers.ts";
import { serviceKey } from "../platform/service-key.ts";
import { computeFingerprint, userData } from "./first-boot.ts";
import {
  allPages,
  api,
  type Ask,
  type ErrorResponse,
  type Meaning,
  parseable,
  parseAll,
  RESPONSE_SECONDS,
  UNKNOWN,
} from "./http.ts";
import { idsIn, machineName } from "./machine-name.ts";
import type { LabeledMachine, Machine, MachineRequest, Provider } from "./provider.ts";
import {
  Done,
  Identified,
  noOwner,
  type Options,
  orderedMachine,
  placeOrder,
  releaseMethods,
  supportedImage,
} from "./virtual-machines.ts";

const NAME = "DigitalOcean";
const ADDRESS = "https://api.digitalocean.com";
const PER_PAGE = "200"; // the most that it gives
/** The time from when an order may have been carried out until lists show its machine. */
const LATE_SECONDS = 90;

const Paged = z.object({ links: z.object({ pages: z.object({ next: z.string().nullish() }).nullish() }).nullish() });
const Size = z.object({
  slug: z.string(),
  available: z.boolean(),
  vcpus: amount,
  memory: amount,
  disk: amount,
  regions: z.array(z.string().nullable()),
  gpu_info: z.unknown().optional(),
  /** Without both, the size is offered without a price. */
  price_monthly: amount.optional().catch(undefined),
  price_hourly: amount.optional().catch(undefined),
});
const Region = z.object({ slug: z.string(), name: z.string(), available: z.boolean() });
const Image = z.object({
  slug: z.string().nullish(),
  status: z.string().nullish(),
  regions: z.array(z.string().nullable()).nullish(),
});
const Network = z.object({ ip_address: z.string(), type: z.string() }).nullable().catch(null);
/**
 * Only the ID decides what becomes of a machine; its name and tags say whose it is. A status that is no text is one that does not
 * run yet.
 */
const Droplet = z.object({
  id: z.number(),
  name: z.string().catch(""),
  status: z.string().catch("new"),
  created_at: z.string().catch(""),
  networks: z.object({ v4: z.array(Network).optional() }).catch({}),
  tags: z.array(z.string().nullable()).catch([]),
});
type Droplet = z.infer<typeof Droplet>;

export function digitalocean({ token, address = ADDRESS, deployment }: Options): Provider {
  const ask = api({ name: NAME, address, token, errorIn, meaning: classifyError });
  const listed = async (query: Record<string, string>): Promise<Droplet[]> =>
    parseAll(NAME, "droplets", Droplet, await all(ask, "droplets", query));
  /** One for each account and not for each server: tags outlive what they are on. The rest is in the name. */
  const buildTag = (accountId: string): string => `${deployment}:${accountId}`;
  const ofServer = async ({ account_id, server_id }: Pick<MachineRequest, "account_id" | "server_id">): Promise<Droplet[]> =>
    (await listed({ tag_name: buildTag(account_id) })).filter(({ name }) => idsIn(name)?.server_id === server_id);
  const remove = async (id: string): Promise<boolean> =>
    (await ask({ method: "DELETE", path: `/v2/droplets/${id}`, schema: Done })) === undefined;

  return {
    code: "digitalocean",
    name: NAME,
    settleSeconds: RESPONSE_SECONDS + LATE_SECONDS,
    catalog: () => fetchCatalog(ask),
    findRequested: async (request) => {
      // Both are searched, because they are not shown at the same moment.
      const droplet = (await ofServer(request))[0] ?? (await listed({ name: machineName(request) }))[0];
      return droplet && orderedMachine(droplet, request.operation_id);
    },
    prepareOrder: async (request) => {
      const body = {
        name: machineName(request),
        region: request.region,
        size: request.size,
        image: await imageFor(ask, request.region),
        ssh_keys: [await ensureServiceKey(ask, deployment)],
        user_data: await userData(request),
        tags: [deployment, buildTag(request.account_id)],
        with_droplet_agent: false, // nobody else should have access
      };
      const schema = z.object({ droplet: Identified });
      return placeOrder(
        request.operation_id,
        async () => (await ask({ method: "POST", path: "/v2/droplets", body, schema })).droplet,
      );
    },
    findMachine: async (id) => {
      const response = await ask({ method: "GET", path: `/v2/droplets/${id}`, schema: z.object({ droplet: Droplet }) });
      return response && toMachine(response.droplet);
    },
    ...releaseMethods(ofServer, remove),
    listMachines: async () =>
      parseable(NAME, "droplets", Droplet, await all(ask, "droplets", { tag_name: deployment })).flatMap((droplet) =>
        labeled(droplet, deployment),
      ),
  };
}

async function fetchCatalog(ask: Ask): Promise<CatalogProvider> {
  const [allSizes, allRegions] = await Promise.all([all(ask, "sizes"), all(ask, "regions")]);
  const sizes = parseable(NAME, "sizes", Size, allSizes);
  const regions = parseable(NAME, "regions", Region, allRegions);
  const open = regions.filter(({ available }) => available);
  return {
    code: "digitalocean",
    name: NAME,
    regions: open.map(({ slug, name }) => ({ code: slug, name })),
    sizes: sizes.flatMap((size) => toSize(size, new Set(open.map(({ slug }) => slug)))).filter(canHostErp),
  };
}

function all(ask: Ask, list: string, query: Record<string, string> = {}): Promise<unknown[]> {
  const schema = z.intersection(Paged, z.object({ [list]: z.array(z.unknown()) }));
  return allPages(async (number) => {
    const paged = { ...query, page: String(number), per_page: PER_PAGE };
    const part = await ask({ method: "GET", path: `/v2/${list}`, query: paged, schema });
    return part && { entries: part[list] ?? [], more: typeof part.links?.pages?.next === "string" };
  });
}

const MEGABYTES = 1024;

function toSize(size: z.infer<typeof Size>, open: ReadonlySet<string>): CatalogProvider["sizes"] {
  const { slug, available, vcpus, memory, disk, gpu_info, price_monthly, price_hourly } = size;
  const regions = size.regions.filter((region) => region !== null).filter((region) => open.has(region));
  if (!available || isPresent(gpu_info) || regions.length === 0) return [];
  const price =
    price_monthly === undefined || price_hourly === undefined ? null : formatPrice(price_monthly, price_hourly, "USD");
  const specs = { cpu: vcpus, memory_gb: Math.floor(memory / MEGABYTES), disk_gb: disk };
  return [{ code: slug, ...specs, regions, price, region_prices: {} }];
}

async function imageFor(ask: Ask, region: string): Promise<string> {
  const images = parseable(NAME, "images", Image, await all(ask, "images", { type: "distribution" }));
  const slugs = images.flatMap(({ slug, status, regions }) =>
    typeof slug === "string" && (status ?? "available") === "available" && (regions ?? [region]).includes(region) ? slug : [],
  );
  return supportedImage(
    NAME,
    slugs,
    (slug, { distribution, version }) => slug === `${distribution}-${version.replace(".", "-")}-x64`,
  );
}

/** A machine with an SSH key gets no password, which would be sent by email. Kept for the next machine. */
async function ensureServiceKey(ask: Ask, deployment: string): Promise<number> {
  const { public_key } = await serviceKey();
  const schema = z.object({ ssh_key: Identified });
  const registered = await ask({ method: "GET", path: `/v2/account/keys/${computeFingerprint(public_key)}`, schema });
  if (registered !== undefined) return registered.ssh_key.id;
  const { ssh_key } = await ask({ method: "POST", path: "/v2/account/keys", body: { name: deployment, public_key }, schema });
  return ssh_key.id;
}

function toMachine({ status, networks }: Droplet): Machine {
  const ip_address = networks.v4?.find((network) => network?.type === "public")?.ip_address ?? null;
  if (status === "active") return { state: "running", ip_address };
  return { state: status === "new" ? "starting" : "off", ip_address };
}

function labeled({ id, name, created_at, tags }: Droplet, deployment: string): LabeledMachine[] {
  const ids = idsIn(name);
  const account_id = tags.find((tag) => tag?.startsWith(`${deployment}:`))?.slice(deployment.length + 1);
  if (ids === undefined || account_id === undefined) return noOwner(NAME, id);
  return [{ machine_id: String(id), ...ids, account_id, created_at }];
}

const Problem = z.union([
  z.object({ id: z.string(), message: z.string() }).transform(({ id, message }) => ({ code: id, message })),
  /** `error_with_root_causes` of its description. A proxy's error may have an `error`, but no causes. */
  z
    .object({ error: z.string(), messages: z.array(z.string()).nullish(), root_causes: z.array(z.unknown()) })
    .transform(({ error, messages }) => ({ code: error, message: messages?.[0] ?? error })),
]);

function errorIn(body: unknown): Omit<ErrorResponse, "status"> {
  const parsed = Problem.safeParse(body);
  return parsed.success ? parsed.data : { code: UNKNOWN, message: "" };
}

/** One status and code for many errors: only the message distinguishes them, as people report them of its clients. */
function classifyError({ status, code, message }: ErrorResponse): Meaning | undefined {
  if (status !== 422 && status !== 403) return undefined;
  // A Droplet, while something is being done with it.
  if (/\blocked\b/i.test(message) && !/account|team/i.test(message)) return "busy";
  // About the operator's account, and not its credentials.
  if (/payment|billing|verify|locked|suspended/i.test(message)) return "rejected";
  if (/\b(?:limits?|quotas?)\b/i.test(message) && !/character|byte|\bkb\b|user.?data/i.test(message)) return "quota";
  if (/restricted/i.test(message)) return "quota"; // a size that the account may not use yet
  if (/pending event|already in use/i.test(message)) return "busy";
  if (/not available|unavailable|capacity|sold out/i.test(message)) return "capacity";
  return code === "forbidden" || /authori[sz]|permission/i.test(message) ? "unauthorized" : undefined;
}
