// Which providers there are, and what can be had from them. Nothing else knows.
import type { Catalog } from "../api/catalog.ts";
import { invalid } from "../api/errors.ts";
import type { ServerSpecs } from "../api/servers.ts";
import { ERP_VERSIONS } from "../domain/erp-versions.ts";
import { env } from "../runtime/env.ts";
import type { Provider } from "./provider.ts";
import { sandbox } from "./sandbox.ts";

const PROVIDERS: Readonly<Record<"test" | "live", readonly Provider[]>> = { test: [sandbox], live: [] };

export const providers = (): readonly Provider[] => PROVIDERS[env().ENVIRONMENT];

/** The provider of a server that exists. */
export function providerOf(server: { provider: string }): Provider {
  const provider = providers().find(({ code }) => code === server.provider);
  if (provider === undefined) throw new Error(`This deployment has no provider ${server.provider}`);
  return provider;
}

export async function catalogue(): Promise<Catalog> {
  return {
    providers: await Promise.all(providers().map((provider) => provider.catalog())),
    erp_versions: ERP_VERSIONS.map((version) => ({ ...version })),
    editions: ["community"], // no public image has the enterprise edition
  };
}

/** The size that is asked for, if the provider offers it in that region; else says which field is wrong, and what there is. */
export function findOffer(catalog: Catalog, wanted: { provider: string; region: string; size: string }): { specs: ServerSpecs } {
  const provider = catalog.providers.find(({ code }) => code === wanted.provider);
  if (provider === undefined) throw notOffered("provider", catalog.providers);
  if (!provider.regions.some(({ code }) => code === wanted.region)) throw notOffered("region", provider.regions);
  const size = provider.sizes.find(({ code }) => code === wanted.size);
  if (size === undefined) throw notOffered("size", provider.sizes);
  if (!size.regions.includes(wanted.region))
    throw invalid({ field: "size", reason: `is not offered in ${wanted.region}, only in: ${size.regions.join(", ")}` });
  const { cpu, memory_gb, disk_gb } = size;
  return { specs: { cpu, memory_gb, disk_gb } };
}

const notOffered = (field: string, offered: readonly { code: string }[]): Error =>
  invalid({ field, reason: `must be one of: ${offered.map(({ code }) => code).join(", ")}` });
