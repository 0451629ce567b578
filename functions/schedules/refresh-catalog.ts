// Every ten minutes: stores the providers' offers for the API functions, and once an hour the newest images of the ERP.
import type { Catalog } from "../../shared/api/catalog.ts";
import { removeOffer, readOffers, recordEditions, recordOffer } from "../../shared/records/catalog.ts";
import { configuration } from "../../shared/platform/configuration.ts";
import { refreshImages } from "../../shared/providers/images.ts";
import { providers } from "../../shared/providers/index.ts";
import { concurrentlyLogged } from "../../shared/runtime/concurrently-logged.ts";

const AT_ONCE = 10;

export const handler = async (): Promise<void> => {
  const available = await providers();
  const codes = new Set(available.map(({ code }) => code));
  const removedProviders = (await readOffers()).providers.filter(({ code }) => !codes.has(code));
  for (const { code } of removedProviders) await removeOffer(code);
  await recordEditions(await editions());
  await refreshImages();
  // A provider that does not respond keeps its last offers, and an alarm goes off if that continues.
  await concurrentlyLogged(
    AT_ONCE,
    available,
    async (provider) => recordOffer(await provider.catalog()),
    ({ code }) => ({ provider: code }),
  );
};

/** The enterprise edition has no public image: it is available only if the operator has configured a source. */
async function editions(): Promise<Catalog["editions"]> {
  const { enterprise_source } = await configuration();
  return enterprise_source === undefined ? ["community"] : ["community", "enterprise"];
}
