// Figures, and what they are called.
import type { SeriesUnit } from "../../../shared/domain/metrics.ts";
import { spanInWords } from "../app/words.ts";
import { locale } from "../messages/language.ts";
import { text } from "../messages/text.ts";
import { sizeInWords } from "../resource/words/size.ts";

const rounded = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 });

/** A newer service may have more series than this page. */
export function seriesInWords(name: string): string {
  const words: Readonly<Record<string, string>> = text.metrics.series;
  return words[name] ?? name;
}

export function metricInWords(value: number, unit: SeriesUnit): string {
  const say = text.metrics.units;
  switch (unit) {
    case "bytes":
      return sizeInWords(Math.round(value));
    case "bytes_per_second":
      return say.perSecond(sizeInWords(Math.round(value)));
    case "percent":
      return say.percent(rounded.format(value));
    case "milliseconds":
      return say.milliseconds(rounded.format(value));
    case "seconds":
      return spanInWords(value);
    default:
      return rounded.format(value);
  }
}
