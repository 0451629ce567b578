// The offers of all providers, as last fetched: API functions read them here and never call a provider.
import * as z from "zod";
import { CatalogProvider, type Catalog } from "../api/catalog.ts";
import type { Edition } from "../domain/erp-versions.ts";
import { now } from "../data/change.ts";
import { keys } from "../data/keys.ts";
import { parseEach, parseOrSkip } from "../data/parse-each.ts";
import { openEnum, stored } from "../data/stored.ts";
import { queryAll, removeOne, updateOne } from "../data/table.ts";

const Offer = z.object({ provider: stored(CatalogProvider) });
const Editions = z.object({ editions: z.array(openEnum<Edition>()) });

export type Offers = Pick<Catalog, "providers" | "editions">;

/** No provider, before the first refresh. */
export async function readOffers(): Promise<Offers> {
  const items = await queryAll(keys.catalog());
  const offers = items.filter((item) => "provider" in item);
  const editions = items.find(({ sk }) => sk === keys.editions().sk);
  return {
    providers: parseEach(Offer, offers).map(({ provider }) => provider),
    editions: (editions && parseOrSkip(Editions, editions))?.editions ?? ["community"],
  };
}

export async function recordOffer(provider: CatalogProvider): Promise<void> {
  await updateOne(keys.offered(provider.code), { set: { provider, at: now() } }, { exists: false });
}

export async function recordEditions(editions: Offers["editions"]): Promise<void> {
  await updateOne(keys.editions(), { set: { editions } }, { exists: false });
}

/** Removes the offer of a provider that is no longer configured. */
export const removeOffer = (code: string): Promise<void> => removeOne(keys.offered(code));
