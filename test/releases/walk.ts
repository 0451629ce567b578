// Every GET of a running service, with every filter, four at a time: what must not fail after an upgrade or a rollback.
import * as z from "zod";
import { concurrently } from "../../shared/platform/concurrently.ts";
import type { Response, Service } from "./service.ts";

const Parameter = z.object({
  name: z.string(),
  in: z.string(),
  required: z.boolean().default(false),
  schema: z.looseObject({
    enum: z.array(z.coerce.string()).optional(), // some are numbers
    "x-extensible-enum": z.array(z.string()).optional(),
    examples: z.array(z.unknown()).optional(),
  }),
});
const Description = z.object({
  paths: z.record(z.string(), z.object({ get: z.object({ parameters: z.array(z.unknown()).default([]) }).optional() })),
  components: z.object({ parameters: z.record(z.string(), z.unknown()) }),
});
type Description = z.infer<typeof Description>;
const Listed = z.array(z.looseObject({ id: z.string() }));

/** What is no error: a part that not every record has, an upload that has expired, and what is for people alone. */
const MISSING: Readonly<Record<string, readonly number[]>> = {
  "/auth/second-factors": [403],
  "/settings/sso": [403],
  "/instances/{id}/backup-policy": [404],
  "/backups/{id}/download": [409],
  "/backups/uploads/{id}": [404],
  "/sandbox/instances/{id}/data": [404, 409],
};

/** Values of parameters that a request needs. */
const NEEDED: Readonly<Record<string, string>> = { q: "shop", created_after: "2026-01-01" };

/** Lists that may be empty: an alert opens some time after what it is about. */
const MAY_BE_NONE = ["/alerts/{id}"];

/** What a token may ask for ten times in a minute: of one resource, or the walk waits for minutes. */
const LIMITED = ["/instances/{id}/logs"];

export interface Walk {
  requests: number;
  /** The requests that failed, with what they got. */
  errors: string[];
  /** How many records each list has. */
  totals: Record<string, number>;
  /** All that the description has. */
  paths: string[];
}

export interface WalkOptions {
  /** Default true. */
  filters?: boolean;
  /** What the authorizer knows, if that is another version's. By default everything. */
  knownPaths?: readonly string[];
}

/** Requests at a time: few enough for a machine with two cores. */
const AT_ONCE = 4;

export async function walk(
  { api, items }: Service,
  { filters: withFilters = true, knownPaths }: WalkOptions = {},
): Promise<Walk> {
  const errors: string[] = [];
  const totals: Walk["totals"] = {};
  let requests = 0;
  const get = async (path: string, allowed: readonly number[] = []): Promise<Response> => {
    requests += 1;
    const response = await api.request("GET", path);
    if (response.status !== 200 && !allowed.includes(response.status))
      errors.push(`GET ${path}: ${response.status} ${JSON.stringify(response.error)}`);
    return response;
  };
  const description = Description.parse((await get("/openapi.json")).data);
  const paths = Object.fromEntries(Object.entries(description.paths).filter(([path]) => knownPaths?.includes(path) ?? true));
  const idsByKind: Record<string, string[]> = { uploads: await idsIn(items, "upload"), deploys: await idsIn(items, "deploy") };

  const lists = Object.keys(paths).filter(
    (path) => !path.includes("{") && parametersOf(description, path).some(({ name }) => name === "page"),
  );
  for (const path of lists) {
    const { ids, total } = await everyId(path, (page) => get(page, MISSING[path]));
    if (ids.length !== total) errors.push(`GET ${path}: ${ids.length} of ${total} records`);
    totals[path] = total;
    idsByKind[path.slice(1)] = ids;
  }
  const idsOf = (path: string): string => (idsByKind[lastOf(path)] ?? []).slice(0, 2).join(",");
  const filters = { ids: (path: string) => (idsOf(path) === "" ? [] : [idsOf(path)]), ...samplesIn(idsByKind) };
  const urls: { url: string; path: string }[] = [];
  for (const path of Object.keys(paths)) {
    if (paths[path]?.get === undefined) continue;
    const every = path.includes("{") ? await placesIn(path, idsByKind, get) : [path];
    const places = LIMITED.includes(path) ? every.slice(0, 1) : every;
    if (places.length === 0 && !MAY_BE_NONE.includes(path)) errors.push(`GET ${path}: there is nothing to try it on`);
    const parameters = parametersOf(description, path);
    const required = parameters
      .filter((parameter) => parameter.required)
      .map(({ name }) => ({ name, value: NEEDED[name] ?? "" }));
    for (const place of places) {
      const urlWith = (...more: { name: string; value: string }[]): string => {
        const all = [...required.filter(({ name }) => !more.some((each) => each.name === name)), ...more];
        const query = all.map(({ name, value }) => `${name}=${encodeURIComponent(value)}`).join("&");
        return query === "" ? place : `${place}?${query}`;
      };
      urls.push({ url: urlWith(), path });
      for (const { name, schema } of withFilters ? parameters : [])
        for (const value of valuesOf(name, schema, filters, place)) urls.push({ url: urlWith({ name, value }), path });
    }
  }
  await concurrently(AT_ONCE, urls, async ({ url, path }) => void (await get(url, MISSING[path])));
  return { requests, errors, totals, paths: Object.keys(description.paths) };
}

/** A path with IDs in place of its parameters. What is below a resource comes from the list of it. */
async function placesIn(
  path: string,
  idsByKind: Readonly<Record<string, string[]>>,
  get: (path: string) => Promise<Response>,
): Promise<string[]> {
  const [collection = "", first = "", ...rest] = path.split(/\/\{\w+\}/);
  let places = (idsByKind[lastOf(collection)] ?? []).map((id) => `${collection}/${id}${first}`);
  for (const after of rest) {
    const lists = await Promise.all(places.map(async (place) => ({ place, ids: Listed.parse((await get(place)).data) })));
    places = lists.flatMap(({ place, ids }) => ids.slice(0, 1).map(({ id }) => `${place}/${id}${after}`));
  }
  return places;
}

const lastOf = (path: string): string => path.split("/").at(-1) ?? "";

const Reference = z.object({ $ref: z.string() });

const parametersOf = ({ paths, components }: Description, path: string) =>
  (paths[path]?.get?.parameters ?? [])
    .map((each) => Parameter.parse(components.parameters[lastOf(Reference.safeParse(each).data?.$ref ?? "")] ?? each))
    .filter((each) => each.in === "query");

async function everyId(path: string, get: (path: string) => Promise<Response>): Promise<{ ids: string[]; total: number }> {
  const ids: string[] = [];
  let [total, cursor] = [0, ""];
  do {
    const { data, meta } = await get(`${path}?per_page=100${cursor && `&cursor=${cursor}`}`);
    ids.push(...(Listed.safeParse(data).data ?? []).map(({ id }) => id));
    total = meta?.total ?? 0;
    cursor = meta?.next_cursor ?? "";
  } while (cursor !== "");
  return { ids, total };
}

type Samples = Readonly<Record<string, (path: string) => readonly string[]>>;

/** Filters by another resource, and by what the description has no example of. */
const samplesIn = (idsByKind: Readonly<Record<string, readonly string[]>>): Samples => ({
  server_id: () => (idsByKind["servers"] ?? []).slice(0, 2),
  instance_id: () => (idsByKind["instances"] ?? []).slice(0, 2),
  resource_id: () => ["servers", "instances", "backups"].flatMap((kind) => (idsByKind[kind] ?? []).slice(0, 1)),
  actor: () => (idsByKind["tokens"] ?? []).slice(0, 2),
  label: () => ["env:prod", "team:sales"],
  search: () => ["shop", "first", "example.com"],
  q: () => ["shop", "first", "one"],
  cursor: () => [], // `everyId` follows them
  wait: () => ["0"],
});

function valuesOf(name: string, schema: z.infer<typeof Parameter>["schema"], samples: Samples, path: string): readonly string[] {
  const values =
    samples[name]?.(path) ?? schema.enum ?? schema["x-extensible-enum"] ?? (schema.examples ?? []).map((each) => String(each));
  if (values.length === 0 && samples[name] === undefined)
    throw new Error(`The filter ${name} of ${path} has neither an example nor a sample`);
  return values;
}

/** The IDs of what is in no list that needs no ID. */
async function idsIn(items: Service["items"], kind: string): Promise<string[]> {
  return (await items()).flatMap(({ pk, sk }) => (pk?.S?.endsWith(`#${kind}`) && sk?.S !== undefined ? [sk.S] : []));
}
