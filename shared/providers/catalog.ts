// The catalog: the providers' offers, as last fetched, and the ERP's versions. Calls no provider, because clients wait for the response.
import type { Catalog } from "../api/catalog.ts";
import { invalid, mustBeOneOf } from "../api/errors.ts";
import type { ServerSpecs } from "../api/servers.ts";
import { type Offers, readOffers } from "../data/catalog.ts";
import { ERP_VERSIONS } from "../domain/erp-versions.ts";
import { ofEnvironment } from "../platform/env.ts";
import { SANDBOX_CATALOG } from "./sandbox-catalog.ts";

export async function catalog(): Promise<Catalog> {
  return { ...(await offers()), erp_versions: ERP_VERSIONS.map((version) => ({ ...version })) };
}

const offers = (): Promise<Offers> =>
  ofEnvironment<Promise<Offers>>({
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

/** The requested size, if the provider offers it in that region; otherwise throws an error with the invalid field and its valid values. */
export function findOffer(catalog: Catalog, wanted: { provider: string; region: string; size: string }): { specs: ServerSpecs } {
  const provider = catalog.providers.find(({ code }) => code === wanted.provider);
  if (provider === undefined) throw notOffered("provider", catalog.providers);
  if (!provider.regions.some(({ code }) => code === wanted.region)) throw notOffered("region", provider.regions);
  const size = provider.sizes.find(({ code }) => code === wanted.size);
  if (size === undefined) throw notOffered("size", provider.sizes);
  if (!size.regions.includes(wanted.region))
    throw invalid({
      field: "size",
      reason: `is not available in ${wanted.region}; it is available in: ${size.regions.join(", ")}`,
    });
  const { cpu, memory_gb, disk_gb } = size;
  return { specs: { cpu, memory_gb, disk_gb } };
}

function notOffered(field: string, offered: readonly { code: string }[]): Error {
  const codes = offered.map(({ code }) => code);
  const none = `no ${field} is available at the moment; contact the operator`;
  return invalid({ field, reason: codes.length === 0 ? none : mustBeOneOf(codes) });
}
