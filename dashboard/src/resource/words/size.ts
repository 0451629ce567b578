// Sizes in words: "1.25 GB".
import { locale } from "../../messages/language.ts";
import { text } from "../../messages/text.ts";

const rounded = new Intl.NumberFormat(locale, { minimumSignificantDigits: 3, maximumSignificantDigits: 3, useGrouping: false });

export function sizeInWords(bytes: number | null): string {
  if (bytes === null) return "–";
  const { units } = text.resource;
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return `${power === 0 ? bytes : rounded.format(bytes / 1000 ** power)} ${units[power] ?? ""}`;
}

/** A whole number of gigabytes, as the catalog has them: "40 GB". */
export const gigabytes = (count: number): string => `${count} ${text.resource.units[3] ?? ""}`;
