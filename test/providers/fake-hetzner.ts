// A Hetzner Cloud project in memory: it responds like the real one, as far as the service uses it.
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

const TOKEN = "hetzner-token-of-the-tests";
const PER_PAGE_MAX = 50;
const USER_DATA_BYTES_MAX = 32_768;

const Order = z.object({
  name: z.string().regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/),
  server_type: z.string(),
  location: z.string(),
  image: z.string(),
  ssh_keys: z.array(z.string()),
  user_data: z.string().startsWith("#cloud-config\n"),
  labels: z.record(z.string(), z.string().regex(/^[a-zA-Z0-9]([a-zA-Z0-9._-]{0,61}[a-zA-Z0-9])?$/)),
});
type Order = z.infer<typeof Order>;
type HetznerServer = FakeMachine & { order: Order };
const KeyOrder = z.object({ name: z.string(), public_key: z.string() });
type Key = z.infer<typeof KeyOrder> & { id: number; fingerprint: string };

const deprecation = { announced: "2026-01-01T00:00:00Z", unavailable_after: "2026-12-31T00:00:00Z" };
const type = (id: number, name: string, architecture: string, [cores, memory, disk]: number[], fields = {}) => ({
  id,
  name,
  architecture,
  cores,
  memory,
  disk,
  deprecation: null,
  locations: [1, 2].map((place) => ({ id: place, name: place === 1 ? "fsn1" : "hel1", deprecation: null })),
  prices: [price("fsn1", "3.7900000000"), price("hel1", "4.4900000000")],
  ...fields,
});
const price = (location: string, net: string) => ({
  location,
  price_monthly: { net, gross: "9.9900000000" },
  price_hourly: { net: "0.0060000000", gross: "0.0099000000" },
});
const TYPES = [
  type(1, "cx22", "x86", [2, 4, 40]),
  type(2, "cax11", "arm", [2, 4, 40], { locations: [{ id: 1, name: "fsn1", deprecation: null }] }),
  type(3, "cx11", "x86", [1, 2, 20], { deprecation }),
  type(4, "cpx11", "x86", [2, 2, 40], {
    locations: [
      { id: 1, name: "fsn1", deprecation },
      { id: 2, name: "hel1", deprecation: null },
    ],
  }),
  type(5, "cx00", "x86", [1, 1, 10]),
];
const LOCATIONS = [
  { id: 1, name: "fsn1", city: "Falkenstein", country: "DE" },
  { id: 2, name: "hel1", city: "Helsinki", country: "FI" },
];
const IMAGES = [
  { id: 10, os_flavor: "ubuntu", os_version: "24.04", architecture: "x86" },
  { id: 11, os_flavor: "debian", os_version: "12", architecture: "x86" },
  { id: 12, os_flavor: "debian", os_version: "13", architecture: "x86" },
  { id: 13, os_flavor: "ubuntu", os_version: "22.04", architecture: "arm" },
  { id: 14, os_flavor: "fedora", os_version: "43", architecture: "arm" },
];

/** Error responses as the documentation shows them. */
export const errorResponse = (status: number, code: string, message = `As the test asked (${code})`): FakeResponse => ({
  status,
  body: { error: { code, message, details: null } },
});

/** One page of the list of machines. */
export const machinesPage = (servers: readonly unknown[], next_page: number | null): unknown => ({
  servers,
  meta: { pagination: { next_page } },
});

export async function fakeHetzner(fingerprintOf: (publicKey: string) => string): Promise<FakeProvider> {
  const servers: HetznerServer[] = [];
  const keys: Key[] = [];
  let lastId = 1000;

  const api = await fakeApi({
    token: TOKEN,
    base: "/v1",
    unauthorized: errorResponse(401, "unauthorized"),
    limited: errorResponse(429, "rate_limit_exceeded"),
    resetLaterSeconds: 3600,
    respond: (request, fate) => {
      const [, list = "", id] = request.path.split("/");
      switch (`${request.method} ${list}${id === undefined ? "" : "/id"}`) {
        case "GET server_types":
          return listOf(
            request,
            list,
            TYPES.filter(({ name }) => [null, name].includes(request.query.get("name"))),
          );
        case "GET locations":
          return listOf(request, list, LOCATIONS);
        case "GET images":
          return listOf(
            request,
            list,
            IMAGES.filter(({ architecture }) => request.query.get("architecture") === architecture),
          );
        case "GET ssh_keys":
          return listOf(
            request,
            list,
            keys.filter(({ fingerprint }) => request.query.get("fingerprint") === fingerprint),
          );
        case "POST ssh_keys":
          return addKey(request);
        case "GET servers":
          return listOf(
            request,
            list,
            servers.filter((server) => isListed(server) && isSelected(server, request.query)).map(renderServer),
          );
        case "POST servers":
          return order(request, fate());
        case "GET servers/id":
          if (id === "actions") return { status: 200, body: { actions: [] } };
          return withServer(id, (server) => ({ status: 200, body: { server: renderServer(server) } }));
        case "DELETE servers/id":
          return withServer(id, (server) => {
            server.deletedAt = Math.min(server.deletedAt, Date.now());
            return { status: 200, body: { action: { id: 1, status: "running" } } };
          });
        default:
          return errorResponse(404, "not_found");
      }
    },
  });

  function addKey({ body }: FakeRequest): FakeResponse {
    const key = KeyOrder.parse(body);
    const fingerprint = fingerprintOf(key.public_key);
    if (keys.some((other) => other.fingerprint === fingerprint || other.name === key.name))
      return errorResponse(409, "uniqueness_error");
    keys.push({ ...key, fingerprint, id: (lastId += 1) });
    return { status: 201, body: { ssh_key: keys.at(-1) } };
  }

  function order({ body }: FakeRequest, fate: Fate): FakeResponse {
    const parsed = Order.safeParse(body);
    if (!parsed.success || Buffer.byteLength(parsed.data.user_data) > USER_DATA_BYTES_MAX)
      return errorResponse(422, "invalid_input");
    const requested = parsed.data;
    const kind = TYPES.find(({ name }) => name === requested.server_type);
    const image = IMAGES.find(({ id }) => String(id) === requested.image);
    const hasKeys = requested.ssh_keys.every((name) => keys.some(({ id }) => String(id) === name));
    const offered = kind?.locations.some(({ name }) => name === requested.location);
    if (!offered || !hasKeys || image?.architecture !== kind?.architecture) return errorResponse(422, "invalid_input");
    if (servers.some((server) => isThere(server) && server.name === requested.name))
      return errorResponse(409, "uniqueness_error");
    const server = {
      id: (lastId += 1),
      name: requested.name,
      madeAt: Date.now(),
      fate,
      deletedAt: Infinity,
      order: requested,
      off: false,
    };
    servers.push(server);
    return { status: 201, body: { server: renderServer(server), action: { id: 1, status: "running" }, root_password: null } };
  }

  function withServer(id: string | undefined, then: (server: HetznerServer) => FakeResponse): FakeResponse {
    const server = servers.find((each) => String(each.id) === id && isThere(each));
    return server === undefined ? errorResponse(404, "not_found") : then(server);
  }

  return Object.assign(api, { token: TOKEN, machines: servers, keys });
}

function listOf(request: FakeRequest, list: string, entries: readonly unknown[]): FakeResponse {
  const { part, page, last } = pageOf(entries, request.query, PER_PAGE_MAX);
  return { status: 200, body: { [list]: part, meta: { pagination: { page, next_page: page < last ? page + 1 : null } } } };
}

const isSelected = ({ order }: HetznerServer, query: URLSearchParams): boolean =>
  (query.get("label_selector") ?? "").split(",").every((term) => {
    const [name = "", value] = term.split("=");
    return order.labels[name] === value;
  });

function renderServer(server: HetznerServer) {
  const { id, name, madeAt, deletedAt, order, off } = server;
  const running = off ? "off" : "running";
  return {
    id,
    name,
    status: deletedAt < Infinity ? "deleting" : hasStarted(server) ? running : "initializing",
    created: new Date(madeAt).toISOString(),
    public_net: { ipv4: { ip: `192.0.2.${id % 250}` }, ipv6: { ip: "2001:db8::/64" } },
    labels: order.labels,
  };
}
