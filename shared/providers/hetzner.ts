// Hetzner Cloud: https://docs.hetzner.cloud
import * as z from "zod";
import type { CatalogProvider } from "../api/catalog.ts";
import { canHostErp, priceOf, pricesOf } from "./offers.ts";
import { serviceKey } from "../platform/service-key.ts";
import { GiveUp } from "../platform/task-errors.ts";
import { fingerprintOf, userData } from "./first-boot.ts";
import { allPages, RESPONSE_SECONDS, api, type Ask, type Meaning, type ErrorResponse, UNKNOWN } from "./http.ts";
import { machineName } from "./machine-name.ts";
import type { LabeledMachine, Machine, MachineRequest, Provider } from "./provider.ts";
import { Done, Identified, keptKey, type Options, ordered, orderOf, releasing, supportedImage } from "./virtual-machines.ts";

const NAME = "Hetzner";
const ADDRESS = "https://api.hetzner.cloud/v1";
const PER_PAGE = "50"; // the most that it gives
/** From when an order may have been carried out until lists show its machine: they are up to date, as far as we have seen. */
const LATE_SECONDS = 60;
/** Of the 3,600 requests an hour, one is back each second. */
const PAUSE_SECONDS_MAX = 60;

const Paged = z.object({ meta: z.object({ pagination: z.object({ next_page: z.number().nullable() }) }) });
const Deprecation = z.unknown().nullish();
/** A decimal number as text, without VAT. */
const Amount = z.object({ net: z.string() });
const ServerType = z.object({
  name: z.string(),
  architecture: z.string(),
  cores: z.number(),
  memory: z.number(),
  disk: z.number(),
  deprecation: Deprecation,
  locations: z.array(z.object({ name: z.string(), deprecation: Deprecation })),
  prices: z.array(z.object({ location: z.string(), price_monthly: Amount, price_hourly: Amount })).default([]),
});
const Location = z.object({ name: z.string(), city: z.string(), country: z.string() });
const Image = z.object({ id: z.number(), os_flavor: z.string(), os_version: z.string().nullable() });
const Labels = z.object({ operation_id: z.string(), server_id: z.string(), account_id: z.string() });
const Server = z.object({
  id: z.number(),
  status: z.string(),
  created: z.string(),
  public_net: z.object({ ipv4: z.object({ ip: z.string() }).nullish() }),
  labels: z.record(z.string(), z.string()),
});
type Server = z.infer<typeof Server>;

export function hetzner({ token, address = ADDRESS, deployment }: Options): Provider {
  const ask = api({ name: NAME, address, token, errorIn, meaning, pauseSecondsMax: PAUSE_SECONDS_MAX });
  const ours = (labels: Record<string, string> = {}): string =>
    Object.entries({ deployment, ...labels })
      .map(([name, value]) => `${name}=${value}`)
      .join(",");
  const listed = (label_selector: string): Promise<Server[]> => all(ask, "servers", Server, { label_selector });
  const remove = async (id: string): Promise<boolean> =>
    (await ask({ method: "DELETE", path: `/servers/${id}`, schema: Done })) === undefined;

  return {
    code: "hetzner",
    name: NAME,
    settleSeconds: RESPONSE_SECONDS + LATE_SECONDS,
    catalog: async () => {
      const [types, locations] = await Promise.all([all(ask, "server_types", ServerType), all(ask, "locations", Location)]);
      return {
        code: "hetzner",
        name: NAME,
        regions: locations.map(({ name, city, country }) => ({ code: name, name: `${city}, ${country}` })),
        sizes: types.flatMap(sizeOf).filter(canHostErp),
      };
    },
    findRequested: async ({ operation_id }) => {
      const [made] = await listed(ours({ operation_id }));
      return made && ordered(made, operation_id);
    },
    prepareOrder: async (request) => {
      const body = {
        name: machineName(request),
        server_type: request.size,
        location: request.region,
        image: await imageFor(ask, request.size),
        ssh_keys: [await serviceKeyThere(ask, deployment)],
        user_data: await userData(request),
        labels: { deployment, ...labelsOf(request) },
      };
      const schema = z.object({ server: Identified });
      return orderOf(
        NAME,
        request.operation_id,
        async () => (await ask({ method: "POST", path: "/servers", body, schema }))?.server,
      );
    },
    findMachine: async (id) => {
      const response = await ask({ method: "GET", path: `/servers/${id}`, schema: z.object({ server: Server }) });
      return response && stateOf(response.server);
    },
    ...releasing(({ server_id }) => listed(ours({ server_id })), remove),
    listMachines: async () => (await listed(ours())).flatMap(labeled),
  };
}

function all<T>(ask: Ask, list: string, entry: z.ZodType<T>, query: Record<string, string> = {}): Promise<T[]> {
  const schema = z.intersection(Paged, z.object({ [list]: z.array(entry) }));
  return allPages(async (number) => {
    const paged = { ...query, page: String(number), per_page: PER_PAGE };
    const part = await ask({ method: "GET", path: `/${list}`, query: paged, schema });
    return part && { entries: part[list] ?? [], more: typeof part.meta.pagination.next_page === "number" };
  });
}

/** Left out where it cannot be ordered any more, or soon. */
function sizeOf({
  name,
  cores,
  memory,
  disk,
  deprecation,
  locations,
  prices,
}: z.infer<typeof ServerType>): CatalogProvider["sizes"] {
  const regions = isGoing(deprecation) ? [] : locations.filter((place) => !isGoing(place.deprecation)).map((place) => place.name);
  if (regions.length === 0) return [];
  const byRegion = prices
    .filter(({ location }) => regions.includes(location))
    .map(({ location, price_monthly, price_hourly }) => [
      location,
      priceOf(Number(price_monthly.net), Number(price_hourly.net), "EUR"), // the only currency that Hetzner bills in
    ]);
  const specs = { cpu: cores, memory_gb: Math.floor(memory), disk_gb: Math.floor(disk) };
  return [{ code: name, ...specs, regions, ...pricesOf(Object.fromEntries(byRegion)) }];
}
const isGoing = (deprecation: unknown): boolean => deprecation !== null && deprecation !== undefined;

async function imageFor(ask: Ask, size: string): Promise<string> {
  const [type] = await all(ask, "server_types", ServerType, { name: size });
  if (type === undefined) throw new GiveUp("PROVIDER_OUT_OF_CAPACITY", `${NAME} no longer offers this size`);
  const query = { type: "system", status: "available", architecture: type.architecture };
  const images = await all(ask, "images", Image, query);
  const image = supportedImage(
    NAME,
    images,
    ({ os_flavor, os_version }, { distribution, version }) => os_flavor === distribution && os_version === version,
  );
  return String(image.id);
}

/** A machine with an SSH key gets no password, which would be sent by email. Kept for the next machine. */
async function serviceKeyThere(ask: Ask, deployment: string): Promise<string> {
  const { public_key } = await serviceKey();
  const fingerprint = fingerprintOf(public_key);
  const [present] = await all(ask, "ssh_keys", Identified, { fingerprint });
  if (present !== undefined) return String(present.id);
  const body = { name: `${deployment}-${fingerprint.slice(0, 5)}`, public_key };
  const made = await ask({ method: "POST", path: "/ssh_keys", body, schema: z.object({ ssh_key: Identified }) });
  return String(keptKey(NAME, made).ssh_key.id);
}

function stateOf({ status, public_net }: Server): Machine | undefined {
  if (status === "deleting") return undefined;
  const ip_address = public_net.ipv4?.ip ?? null;
  if (status === "running") return { state: "running", ip_address };
  return { state: status === "off" || status === "stopping" ? "off" : "starting", ip_address };
}

const labelsOf = ({ operation_id, server_id, account_id }: MachineRequest) => ({ operation_id, server_id, account_id });

function labeled({ id, created, labels }: Server): LabeledMachine[] {
  const parsed = Labels.safeParse(labels);
  return parsed.success ? [{ machine_id: String(id), created_at: created, ...parsed.data }] : [];
}

const Problem = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

function errorIn(body: unknown): Omit<ErrorResponse, "status"> {
  const parsed = Problem.safeParse(body);
  return parsed.success ? parsed.data.error : { code: UNKNOWN, message: "" };
}

function meaning({ code }: ErrorResponse): Meaning | undefined {
  switch (code) {
    case "resource_limit_exceeded":
      return "quota";
    case "resource_unavailable":
    case "placement_error":
      return "capacity";
    case "unauthorized":
    case "forbidden":
    case "token_readonly":
      return "unauthorized";
    case "uniqueness_error": // an earlier try has made it, and the next look finds it
    case "conflict":
    case "locked":
      return "busy";
    default:
      return undefined;
  }
}
