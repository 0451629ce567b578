// A DigitalOcean account in memory: it responds like the real one, as far as the service uses it. Nothing is unique, lists may
// lag.
import * as z from "zod";
import {
  type FakeResponse,
  type FakeRequest,
  fakeApi,
  type FakeMachine,
  type FakeProvider,
  type Fate,
  hasStarted,
  isListed,
  isThere,
  pageOf,
} from "./fake.ts";

const TOKEN = "digitalocean-token-of-the-tests";
const PER_PAGE_MAX = 200;
const USER_DATA_BYTES_MAX = 65_536;

const Order = z.object({
  name: z.string().regex(/^[a-zA-Z0-9]?[a-z0-9A-Z.-]*[a-z0-9A-Z]$/),
  region: z.string(),
  size: z.string(),
  image: z.string(),
  ssh_keys: z.array(z.number()),
  user_data: z.string().startsWith("#cloud-config\n"),
  tags: z.array(
    z
      .string()
      .max(255)
      .regex(/^[a-zA-Z0-9_\-:]+$/),
  ),
});
type Order = z.infer<typeof Order>;
type Droplet = FakeMachine & { order: Order };
const KeyOrder = z.object({ name: z.string(), public_key: z.string() });
type Key = z.infer<typeof KeyOrder> & { id: number; fingerprint: string };

const size = (slug: string, [vcpus, memory, disk]: number[], fields = {}) => ({
  slug,
  vcpus,
  memory,
  disk,
  available: true,
  price_monthly: 24,
  price_hourly: 0.03570999950170517,
  regions: ["fra1", "nyc3", "old1"],
  description: "Basic",
  ...fields,
});
const SIZES = [
  size("s-2vcpu-4gb", [2, 4096, 80]),
  size("s-1vcpu-512mb-10gb", [1, 512, 10]),
  size("s-4vcpu-8gb", [4, 8192, 160], { regions: ["nyc3"] }),
  size("s-gone", [2, 4096, 80], { available: false }),
  size("gpu-h100x1", [20, 245_760, 720], { gpu_info: { count: 1 } }),
];
const REGIONS = [
  { slug: "fra1", name: "Frankfurt 1", available: true, features: [], sizes: [] },
  { slug: "nyc3", name: "New York 3", available: true, features: [], sizes: [] },
  { slug: "old1", name: "Closed 1", available: false, features: [], sizes: [] },
];
const IMAGES = [
  { slug: "ubuntu-24-04-x64", distribution: "Ubuntu", status: "available", regions: ["fra1", "nyc3"] },
  { slug: "debian-12-x64", distribution: "Debian", status: "available", regions: ["fra1", "nyc3"] },
  { slug: null, distribution: "Debian", status: "retired", regions: [] },
];

export const errorResponse = (status: number, id: string, message = "As the test asked"): FakeResponse => ({
  status,
  body: { id, message },
});

/** One page of the list of machines. */
export const machinesPage = (droplets: readonly unknown[], next: number | null): unknown => ({
  droplets,
  links: { pages: next === null ? {} : { next: `https://api.digitalocean.com/v2/droplets?page=${next}` } },
});

export async function fakeDigitalOcean(fingerprintOf: (publicKey: string) => string): Promise<FakeProvider> {
  const droplets: Droplet[] = [];
  const keys: Key[] = [];
  let lastId = 500_000;

  const api = await fakeApi({
    token: TOKEN,
    base: "",
    unauthorized: errorResponse(401, "Unauthorized", "Unable to authenticate you"),
    limited: errorResponse(429, "too_many_requests", "API Rate limit exceeded."),
    resetLaterSeconds: 0,
    respond: (request, fate) => {
      const [, , list = "", second, third] = request.path.split("/");
      switch (
        `${request.method} ${[list, list === "account" ? second : second && "id", third && "id"].filter(Boolean).join("/")}`
      ) {
        case "GET sizes":
          return listOf(request, list, SIZES);
        case "GET regions":
          return listOf(request, list, REGIONS);
        case "GET images":
          return listOf(request, list, IMAGES);
        case "GET account/keys/id":
          return respondIfFound(
            keys.find(({ fingerprint }) => fingerprint === third),
            (ssh_key) => ({ status: 200, body: { ssh_key } }),
          );
        case "POST account/keys":
          return addKey(request);
        case "GET droplets":
          return listOf(
            request,
            list,
            droplets.filter((droplet) => isListed(droplet) && isWanted(droplet, request.query)).map(renderDroplet),
          );
        case "POST droplets":
          return order(request, fate());
        case "GET droplets/id":
          return respondIfFound(present(second), (droplet) => ({ status: 200, body: { droplet: renderDroplet(droplet) } }));
        case "DELETE droplets/id":
          return respondIfFound(present(second), (droplet) => {
            droplet.deletedAt = Math.min(droplet.deletedAt, Date.now());
            return { status: 204 };
          });
        default:
          return errorResponse(404, "not_found", "The resource you requested could not be found.");
      }
    },
  });

  const present = (id: string | undefined): Droplet | undefined =>
    droplets.find((droplet) => String(droplet.id) === id && isThere(droplet));

  function addKey({ body }: FakeRequest): FakeResponse {
    const key = KeyOrder.parse(body);
    const fingerprint = fingerprintOf(key.public_key);
    if (keys.some((other) => other.fingerprint === fingerprint))
      return errorResponse(422, "unprocessable_entity", "SSH Key is already in use on your account");
    keys.push({ ...key, fingerprint, id: (lastId += 1) });
    return { status: 201, body: { ssh_key: keys.at(-1) } };
  }

  function order({ body }: FakeRequest, fate: Fate): FakeResponse {
    const parsed = Order.safeParse(body);
    const requested = parsed.data;
    if (requested === undefined || Buffer.byteLength(requested.user_data) > USER_DATA_BYTES_MAX)
      return errorResponse(422, "unprocessable_entity", "You specified something invalid for Droplet creation.");
    const offered = SIZES.some(
      ({ slug, available, regions }) => slug === requested.size && available && regions.includes(requested.region),
    );
    const hasKeys = requested.ssh_keys.every((key) => keys.some(({ id }) => id === key));
    if (!hasKeys || !IMAGES.some(({ slug }) => slug === requested.image))
      return errorResponse(422, "unprocessable_entity", "You specified an invalid image for Droplet creation.");
    if (!offered) return errorResponse(422, "unprocessable_entity", "Size is not available in this region.");
    const droplet = {
      id: (lastId += 1),
      name: requested.name,
      madeAt: Date.now(),
      fate,
      deletedAt: Infinity,
      order: requested,
      off: false,
    };
    droplets.push(droplet);
    return { status: 202, body: { droplet: renderDroplet(droplet), links: { actions: [{ id: 1, rel: "create", href: "" }] } } };
  }

  return Object.assign(api, { token: TOKEN, machines: droplets, keys });
}

function respondIfFound<T>(thing: T | undefined, then: (thing: T) => FakeResponse): FakeResponse {
  return thing === undefined ? errorResponse(404, "not_found", "The resource you requested could not be found.") : then(thing);
}

function listOf(request: FakeRequest, list: string, entries: readonly unknown[]): FakeResponse {
  const { part, page, last } = pageOf(entries, request.query, PER_PAGE_MAX);
  const pages = page < last ? { next: `https://api.digitalocean.com/v2/${list}?page=${page + 1}` } : {};
  return { status: 200, body: { [list]: part, links: { pages }, meta: { total: entries.length } } };
}

function isWanted({ name, order }: Droplet, query: URLSearchParams): boolean {
  const [tag, queriedName] = [query.get("tag_name"), query.get("name")];
  return (tag === null || order.tags.includes(tag)) && (queriedName === null || name === queriedName);
}

function renderDroplet(droplet: Droplet) {
  const { id, name, madeAt, order, off, undated } = droplet;
  const started = hasStarted(droplet);
  return {
    id,
    name,
    status: off ? "off" : started ? "active" : "new",
    created_at: undated === true ? "" : new Date(madeAt).toISOString(),
    // The private IP address comes first, as it may in reality.
    networks: {
      v4: started
        ? [
            { ip_address: "10.0.0.2", type: "private" },
            { ip_address: `198.51.100.${id % 250}`, type: "public" },
          ]
        : [],
    },
    tags: order.tags,
  };
}
