// Checks a request against the catalog; the error names the invalid field and the values available.
import * as z from "zod";
import { mustBeOneOf, type Problem } from "../api/errors.ts";
import type { Catalog, Price } from "../api/catalog.ts";

/** What is wrong with the version and the edition of an ERP, which must be ones that can be installed here. */
export function problemsOfErp(catalog: Catalog, request: { erp_version: string; edition: string }): Problem[] {
  const versions = catalog.erp_versions.map(({ version }) => version);
  const editions: readonly string[] = catalog.editions;
  return [
    ...(versions.includes(request.erp_version) ? [] : [{ field: "erp_version", reason: mustBeOneOf(versions) }]),
    ...(editions.includes(request.edition)
      ? []
      : [{ field: "edition", reason: `must be an edition available on this service: ${editions.join(", ")}` }]),
  ];
}

/** A default region is one of the default provider's, or of any provider's where there is no default one, or none such. */
export function problemsOfPlace(
  { providers }: Catalog,
  { default_provider, default_region }: { default_provider: string | null; default_region: string | null },
): Problem[] {
  const codes = providers.map(({ code }) => code);
  const isKnown = default_provider !== null && codes.includes(default_provider);
  const regions = providers
    .filter(({ code }) => !isKnown || code === default_provider)
    .flatMap((provider) => provider.regions.map(({ code }) => code));
  return [
    ...(default_provider === null || isKnown ? [] : [{ field: "default_provider", reason: mustBeOneOf(codes) }]),
    ...(default_region === null || regions.includes(default_region)
      ? []
      : [{ field: "default_region", reason: mustBeOneOf(regions) }]),
  ];
}

/** An ERP with its database does not run on less. */
const HOST_MIN = { memory_gb: 2, disk_gb: 20 } as const;

export const canHostErp = ({ memory_gb, disk_gb }: { memory_gb: number; disk_gb: number }): boolean =>
  memory_gb >= HOST_MIN.memory_gb && disk_gb >= HOST_MIN.disk_gb;

/** Providers write what does not apply as null, or leave it out. */
export const isPresent = (value: unknown): boolean => value !== null && value !== undefined;

/** A price, or how much a size has of something: one that the catalog can store, whatever a provider writes. */
export const amount = z.number().min(0).max(1e9);

/** A price without the noise of floating point. */
export const formatPrice = (monthly: number, hourly: number, currency: string): Price => ({
  monthly: round(monthly, 2),
  hourly: round(hourly, 5),
  currency,
});
const round = (amount: number, digits: number): number => Math.round(amount * 10 ** digits) / 10 ** digits;

/** The lowest price of a size, and the regions where it costs more. */
export function mergePrices(byRegion: Readonly<Record<string, Price>>): {
  price: Price | null;
  region_prices: Record<string, Price>;
} {
  const [price = null] = Object.values(byRegion).toSorted((a, b) => a.monthly - b.monthly || a.hourly - b.hourly);
  const dearer = Object.entries(byRegion).filter(([, each]) => each.monthly !== price?.monthly || each.hourly !== price.hourly);
  return { price, region_prices: Object.fromEntries(dearer) };
}
