// Every ten minutes: writes down what providers offer, for the functions that answer requests.
import type { Catalog } from "../../shared/api/catalog.ts";
import { forgetOffer, readOffers, recordEditions, recordOffer } from "../../shared/data/catalogue.ts";
import { configuration } from "../../shared/platform/configuration.ts";
import { providers } from "../../shared/providers/index.ts";
import { concurrently } from "../../shared/runtime/concurrently.ts";

const AT_ONCE = 10;

export const handler = async (): Promise<void> => {
  const present = await providers();
  const codes = new Set(present.map(({ code }) => code));
  const gone = (await readOffers()).providers.filter(({ code }) => !codes.has(code));
  for (const { code } of gone) await forgetOffer(code);
  await recordEditions(await editions());
  // One that does not answer keeps what it offered last, and an alarm tells if that goes on.
  await concurrently(AT_ONCE, present, async (provider) => recordOffer(await provider.catalog()));
};

/** The enterprise edition has no public image: there is one where the operator has said from where. */
async function editions(): Promise<Catalog["editions"]> {
  const { enterprise_source } = await configuration();
  return enterprise_source === undefined ? ["community"] : ["community", "enterprise"];
}
