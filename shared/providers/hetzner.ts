// Hetzner Cloud: https://docs.hetzner.cloud
import * as z from "zod";
import type { CatalogProvider } from "../api/catalog.ts";
import { because } from "../domain/reasons.ts";
import { amount, canHostErp, formatPrice, isPresent, mergePrices } from "./offers.ts";
import { serviceKey } from "../platform/service-key.ts";
import { GiveUp } from "../platform/task-errors.ts";
import { computeFingerprint, userData } from "./first-boot.ts";
import {
  allPages,
  api,
  type Ask,
  type ErrorResponse,
  failure,
  type Meaning,
  parseable,
  parseAll,
  RESPONSE_SECONDS,
  UNKNOWN,
} from "./http.ts";
import { machineName } from "./machine-name.ts";
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

const NAME = "Hetzner";
const ADDRESS = "https://api.hetzner.cloud/v1";
const PER_PAGE = "50"; // the most that it gives
/** The time after an order may have been carried out until lists show its machine: they are current, as far as we have seen. */
const LATE_SECONDS = 60;
/** Hetzner allows 3,600 requests an hour: one more each second. */
const PAUSE_SECONDS_MAX = 60;

const Paged = z.object({ meta: z.object({ pagination: z.object({ next_page: z.number().nullable() }) }) });
const Deprecation = z.unknown().nullish();
/** A decimal number as text, without VAT. */
const Amount = z.object({
  net: z
    .string()
    .regex(/^\d+(\.\d+)?$/)
    .transform(Number)
    .pipe(amount),
});
const Price = z.object({ location: z.string(), price_monthly: Amount, price_hourly: Amount });
const ServerType = z.object({
  name: z.string(),
  cores: amount,
  memory: amount,
  disk: amount,
  deprecation: Deprecation,
  locations: z.array(z.object({ name: z.string(), deprecation: Deprecation }).nullable().catch(null)),
  /** One that cannot be parsed costs its region the price, and the catalog nothing else. */
  prices: z.array(z.unknown()).catch([]),
});
const Architecture = z.object({ architecture: z.string() });
const Location = z.object({ name: z.string(), city: z.string().nullish(), country: z.string().nullish() });
const Image = z.object({ id: z.number(), os_flavor: z.string(), os_version: z.string().nullable() });
const Labels = z.object({ operation_id: z.string(), server_id: z.string(), account_id: z.string() });
/** Only the ID decides what becomes of a machine. A status that is no text is one that does not run yet. */
const Server = z.object({
  id: z.number(),
  status: z.string().catch("unknown"),
  created: z.string().catch(""),
  public_net: z.object({ ipv4: z.object({ ip: z.string() }).nullish() }).catch({ ipv4: null }),
  labels: z.unknown().optional(),
});
type Server = z.infer<typeof Server>;
const Action = z.object({
  command: z.string(),
  resources: z.array(z.object({ id: z.number(), type: z.string() })),
  error: z.object({ code: z.string(), message: z.string() }),
});

export function hetzner({ token, address = ADDRESS, deployment }: Options): Provider {
  const ask = api({ name: NAME, address, token, errorIn, meaning: classifyError, pauseSecondsMax: PAUSE_SECONDS_MAX });
  const ours = (labels: Record<string, string> = {}): string =>
    Object.entries({ deployment, ...labels })
      .map(([name, value]) => `${name}=${value}`)
      .join(",");
  const listed = (label_selector: string): Promise<unknown[]> => all(ask, "servers", { label_selector });
  const ofLabel = async (labels: Record<string, string>): Promise<Server[]> =>
    parseAll(NAME, "servers", Server, await listed(ours(labels)));
  const remove = async (id: string): Promise<boolean> =>
    (await ask({ method: "DELETE", path: `/servers/${id}`, schema: Done })) === undefined;

  return {
    code: "hetzner",
    name: NAME,
    settleSeconds: RESPONSE_SECONDS + LATE_SECONDS,
    catalog: async () => {
      const [allTypes, allLocations] = await Promise.all([all(ask, "server_types"), all(ask, "locations")]);
      const types = parseable(NAME, "server_types", ServerType, allTypes);
      const locations = parseable(NAME, "locations", Location, allLocations);
      return {
        code: "hetzner",
        name: NAME,
        regions: locations.map(({ name, city, country }) => ({
          code: name,
          name: [city, country].filter(isPresent).join(", ") || name,
        })),
        sizes: types.flatMap(toSize).filter(canHostErp),
      };
    },
    findRequested: async ({ operation_id }) => {
      const [server] = await ofLabel({ operation_id });
      return server && orderedMachine(server, operation_id);
    },
    prepareOrder: async (request) => {
      const body = {
        name: machineName(request),
        server_type: request.size,
        location: request.region,
        image: await imageFor(ask, request.size),
        ssh_keys: [await ensureServiceKey(ask, deployment)],
        user_data: await userData(request),
        labels: { deployment, ...buildLabels(request) },
      };
      const schema = z.object({ server: Identified });
      return placeOrder(request.operation_id, async () => (await ask({ method: "POST", path: "/servers", body, schema })).server);
    },
    findMachine: async (id) => {
      const response = await ask({ method: "GET", path: `/servers/${id}`, schema: z.object({ server: Server }) });
      const machine = response && toMachine(response.server);
      if (machine?.state !== "running") await requireCreated(ask, id);
      return machine;
    },
    ...releaseMethods(({ server_id }) => ofLabel({ server_id }), remove),
    listMachines: async () => parseable(NAME, "servers", Server, await listed(ours())).flatMap(labeled),
  };
}

function all(ask: Ask, list: string, query: Record<string, string> = {}): Promise<unknown[]> {
  const schema = z.intersection(Paged, z.object({ [list]: z.array(z.unknown()) }));
  return allPages(async (number) => {
    const paged = { ...query, page: String(number), per_page: PER_PAGE };
    const part = await ask({ method: "GET", path: `/${list}`, query: paged, schema });
    return part && { entries: part[list] ?? [], more: typeof part.meta.pagination.next_page === "number" };
  });
}

/** Left out where it cannot be ordered any more, or soon. */
function toSize({
  name,
  cores,
  memory,
  disk,
  deprecation,
  locations,
  prices,
}: z.infer<typeof ServerType>): CatalogProvider["sizes"] {
  const regions = isPresent(deprecation)
    ? []
    : locations.flatMap((location) => (location === null || isPresent(location.deprecation) ? [] : location.name));
  if (regions.length === 0) return [];
  const byRegion = parseable(NAME, "prices", Price, prices)
    .filter(({ location }) => regions.includes(location))
    .map(({ location, price_monthly, price_hourly }) => [
      location,
      formatPrice(price_monthly.net, price_hourly.net, "EUR"), // the only currency that Hetzner bills in
    ]);
  const specs = { cpu: cores, memory_gb: Math.floor(memory), disk_gb: Math.floor(disk) };
  return [{ code: name, ...specs, regions, ...mergePrices(Object.fromEntries(byRegion)) }];
}

async function imageFor(ask: Ask, size: string): Promise<string> {
  const [type] = parseable(NAME, "server_types", Architecture, await all(ask, "server_types", { name: size }));
  if (type === undefined) throw new GiveUp("PROVIDER_OUT_OF_CAPACITY", because("size_not_offered", { provider: NAME }));
  const query = { type: "system", status: "available", architecture: type.architecture };
  const images = parseable(NAME, "images", Image, await all(ask, "images", query));
  const image = supportedImage(
    NAME,
    images,
    ({ os_flavor, os_version }, { distribution, version }) => os_flavor === distribution && os_version === version,
  );
  return String(image.id);
}

/** A machine with an SSH key gets no password, which would be sent by email. Kept for the next machine. */
async function ensureServiceKey(ask: Ask, deployment: string): Promise<string> {
  const { public_key } = await serviceKey();
  const fingerprint = computeFingerprint(public_key);
  const [existing] = parseAll(NAME, "ssh_keys", Identified, await all(ask, "ssh_keys", { fingerprint }));
  if (existing !== undefined) return String(existing.id);
  const body = { name: `${deployment}-${fingerprint.slice(0, 5)}`, public_key };
  const response = await ask({ method: "POST", path: "/ssh_keys", body, schema: z.object({ ssh_key: Identified }) });
  return String(response.ssh_key.id);
}

/** Hetzner responds to an order before it carries it out: only its list of actions says why that failed. */
async function requireCreated(ask: Ask, id: string): Promise<void> {
  const query = { status: "error", sort: "id:desc", per_page: PER_PAGE };
  const schema = z.object({ actions: z.array(z.unknown()) });
  const response = await ask({ method: "GET", path: "/servers/actions", query, schema });
  const failed = parseable(NAME, "actions", Action, response?.actions ?? []).find(
    ({ command, resources }) =>
      command === "create_server" && resources.some(({ type, id: resourceId }) => type === "server" && String(resourceId) === id),
  );
  if (failed === undefined) return;
  const { code, message } = failed.error;
  const error = { status: code, message };
  throw failure(NAME, classifyFinalError(code), error, new Error(`${NAME} create_server: ${code}: ${message}`));
}

/** What failed so is not tried again by Hetzner, which a busy provider's request would be. */
function classifyFinalError(code: string): Meaning {
  const shortage = classifyError({ code });
  return shortage === "quota" || shortage === "capacity" ? shortage : "rejected";
}

function toMachine({ status, public_net }: Server): Machine | undefined {
  if (status === "deleting") return undefined;
  const ip_address = public_net.ipv4?.ip ?? null;
  if (status === "running") return { state: "running", ip_address };
  return { state: status === "off" || status === "stopping" ? "off" : "starting", ip_address };
}

const buildLabels = ({ operation_id, server_id, account_id }: MachineRequest) => ({ operation_id, server_id, account_id });

function labeled({ id, created, labels }: Server): LabeledMachine[] {
  const parsed = Labels.safeParse(labels);
  return parsed.success ? [{ machine_id: String(id), created_at: created, ...parsed.data }] : noOwner(NAME, id);
}

const Problem = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

function errorIn(body: unknown): Omit<ErrorResponse, "status"> {
  const parsed = Problem.safeParse(body);
  return parsed.success ? parsed.data.error : { code: UNKNOWN, message: "" };
}

/** Codes of https://docs.hetzner.cloud and of its Go client. */
function classifyError({ code }: Pick<ErrorResponse, "code">): Meaning | undefined {
  switch (code) {
    case "resource_limit_exceeded":
      return "quota";
    case "resource_unavailable":
    case "placement_error":
    case "no_space_left_in_location":
      return "capacity";
    case "unauthorized":
    case "forbidden":
    case "token_readonly":
      return "unauthorized";
    case "uniqueness_error": // an earlier try has made it, and the next look finds it
    case "conflict":
    case "locked":
    case "maintenance":
    case "server_not_stopped":
      return "busy";
    case "protected": // 423, like `locked`, but it lasts until somebody removes the protection
    case "invalid_input":
    case "json_error":
    case "unsupported_error":
      return "rejected";
    default:
      return undefined;
  }
}
