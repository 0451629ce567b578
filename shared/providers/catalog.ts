// The catalog: the providers' offers, as last fetched, and the ERP's versions. Calls no provider, because clients wait for the
// response.
import type { Catalog } from "../api/catalog.ts";
import { mustBeOneOf, type Problem } from "../api/errors.ts";
import type { ServerSpecs } from "../api/servers.ts";
import { type Offers, readOffers } from "../records/catalog.ts";
import { chooseByEnvironment } from "../platform/env.ts";
import { offeredVersions } from "./images.ts";
import { SANDBOX_CATALOG } from "./sandbox/catalog.ts";

export async function readCatalog(): Promise<Catalog> {
  const [offered, erp_versions] = await Promise.all([offers(), offeredVersions()]);
  return { ...offered, erp_versions };
}

const offers = (): Promise<Offers> =>
  chooseByEnvironment<Promise<Offers>>({
    test: async () => ({ providers: [structuredClone(SANDBOX_CATALOG)], editions: ["community"] }),
    live: recent,
  });

/** It is refreshed only every ten minutes, so not every request of a burst needs to read it. */
const CACHE_SECONDS = 5;
let cached: { offers: Offers; readAt: number } | undefined;

async function recent(): Promise<Offers> {
  if (cached === undefined || Date.now() - cached.readAt >= CACHE_SECONDS * 1000)
    cached = { offers: await readOffers(), readAt: Date.now() };
  return cached.offers;
}

interface OfferRequest {
  provider: string;
  region: string;
  size: string;
}

/** What is wrong with a request for a server: the fields with their valid values. A region and a size are the provider's. */
export function problemsOfOffer({ providers }: Catalog, request: OfferRequest): Problem[] {
  const provider = providers.find(({ code }) => code === request.provider);
  if (provider === undefined) return [notOffered("provider", providers)];
  const region = provider.regions.find(({ code }) => code === request.region);
  const size = provider.sizes.find(({ code }) => code === request.size);
  return [
    ...(region === undefined ? [notOffered("region", provider.regions)] : []),
    ...(size === undefined ? [notOffered("size", provider.sizes)] : []),
    ...(region !== undefined && size !== undefined && !size.regions.includes(region.code)
      ? [{ field: "size", reason: `is not available in ${region.code}; it is available in: ${size.regions.join(", ")}` }]
      : []),
  ];
}

/** What a size has of everything, if the provider offers it. */
export function findSpecs({ providers }: Catalog, request: OfferRequest): ServerSpecs {
  const size = providers.find(({ code }) => code === request.provider)?.sizes.find(({ code }) => code === request.size);
  if (size === undefined) throw new Error(`${request.provider} does not offer ${request.size}`);
  const { cpu, memory_gb, disk_gb } = size;
  return { cpu, memory_gb, disk_gb };
}

function notOffered(field: string, offered: readonly { code: string }[]): Problem {
  const codes = offered.map(({ code }) => code);
  const none = `no ${field} is available at the moment; contact the operator`;
  return { field, reason: codes.length === 0 ? none : mustBeOneOf(codes) };
}
