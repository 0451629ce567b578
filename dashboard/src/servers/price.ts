// What a size costs in a region, in words.
import type { CatalogProvider, Price } from "../../../shared/api/catalog.ts";
import { locale } from "../messages/language.ts";
import { text } from "../messages/text.ts";

type Priced = Pick<CatalogProvider["sizes"][number], "price" | "region_prices">;

/** Undefined if the provider publishes no prices. */
export function priceInWords({ price, region_prices }: Priced, region: string): string | undefined {
  const say = text.servers.price;
  const here = region_prices[region] ?? price;
  if (here === null) return undefined;
  if (here.monthly === 0) return say.free;
  const dearer = price !== null && price.currency === here.currency && here.monthly > price.monthly;
  const [month, hour] = [money(here.monthly, here), money(here.hourly, here)];
  return dearer ? say.cheaperElsewhere(month, hour, money(price.monthly, price)) : say.here(month, hour);
}

/** An hour costs fractions of a cent. */
const money = (amount: number, { currency }: Price): string =>
  new Intl.NumberFormat(locale, { style: "currency", currency, maximumFractionDigits: amount < 1 ? 4 : 2 }).format(amount);
