// The offers of all providers, as last fetched: API functions read them here and never call a provider.
import * as z from "zod";
import { CatalogProvider, type Catalog } from "../api/catalog.ts";
import { EDITIONS } from "../domain/erp-versions.ts";
import { now } from "./change.ts";
import { keys } from "./keys.ts";
import { queryAll, removeOne, updateOne } from "./table.ts";

const Offer = z.object({ sk: z.string(), provider: CatalogProvider, at: z.string() });
const Editions = z.object({ sk: z.literal(keys.editions().sk), editions: z.array(z.enum(EDITIONS)) });

const Items = z.array(z.union([Editions, Offer]));

export type Offers = Pick<Catalog, "providers" | "editions">;

/** No provider, before the first refresh. */
export async function readOffers(): Promise<Offers> {
  const items = Items.parse(await queryAll(keys.catalog()));
  return {
    providers: items.flatMap((item) => ("provider" in item ? [item.provider] : [])),
    editions: items.find((item) => "editions" in item)?.editions ?? ["community"],
  };
}

export async function recordOffer(provider: CatalogProvider): Promise<void> {
  await updateOne(keys.offered(provider.code), { set: { provider, at: now() } }, { exists: false });
}

export async function recordEditions(editions: Offers["editions"]): Promise<void> {
  await updateOne(keys.editions(), { set: { editions } }, { exists: false });
}

/** For a provider that is no longer configured. */
export const forgetOffer = (code: string): Promise<void> => removeOne(keys.offered(code));
