// Whether what is asked for is in the catalogue; if not, which field is wrong and what there is instead.
import { invalid } from "../api/errors.ts";
import type { Catalog } from "../api/catalog.ts";

/** The version and the edition of the ERP must be ones that can be installed here. */
export function requireErp(catalog: Catalog, wanted: { erp_version: string; edition: string }): void {
  const versions = catalog.erp_versions.map(({ version }) => version);
  if (!versions.includes(wanted.erp_version))
    throw invalid({ field: "erp_version", reason: `must be one of: ${versions.join(", ")}` });
  const editions: readonly string[] = catalog.editions;
  if (!editions.includes(wanted.edition)) throw invalid({ field: "edition", reason: `can here only be: ${editions.join(", ")}` });
}

/** A default region is one of the default provider's. */
export function requirePlace(
  catalog: Catalog,
  wanted: { default_provider?: string | undefined; default_region?: string | undefined },
): void {
  const provider = catalog.providers.find(({ code }) => code === wanted.default_provider);
  const codes = catalog.providers.map(({ code }) => code);
  if (wanted.default_provider !== undefined && provider === undefined)
    throw invalid({ field: "default_provider", reason: `must be one of: ${codes.join(", ")}` });
  if (wanted.default_region === undefined) return;
  const regions = (provider === undefined ? catalog.providers : [provider]).flatMap((one) => one.regions.map(({ code }) => code));
  if (!regions.includes(wanted.default_region))
    throw invalid({ field: "default_region", reason: `must be one of: ${regions.join(", ")}` });
}
