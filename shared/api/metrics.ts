// Figures over time, of servers and of instances: the parts that both endpoints share.
import * as z from "zod";
import { SERIES_UNITS, METRIC_DAYS, POINTS_MAX, type Series, STEPS } from "../domain/metrics.ts";
import * as fields from "./fields.ts";

const step = z.enum(["60", "600", "3600", "86400"]).transform(Number).pipe(z.literal(STEPS));

/** The query of an endpoint that has these series. */
export function metricsQuery(all: readonly Series[]) {
  const names = all.map(({ name }) => name);
  const [first = "", second = ""] = names;
  return z.strictObject({
    from: fields.queryMoment.optional().meta({
      description: "Default: three hours before `to`. Rounded down to a whole step",
      examples: ["2026-11-20T12:00:00Z"],
      ...fields.MOMENT_FORM,
    }),
    to: fields.queryMoment.optional().meta({
      description: "Default: now. Rounded up to a whole step",
      examples: ["2026-11-20T15:00:00Z"],
      ...fields.MOMENT_FORM,
    }),
    step: step.optional().meta({
      description: `Seconds from one value to the next. Default: the smallest with which the time has at most ${POINTS_MAX} values. \`60\` is kept for ${METRIC_DAYS.minutes} days, \`600\` for ${METRIC_DAYS.tens}, the others for ${METRIC_DAYS.hours}`,
      examples: [60],
    }),
    series: z
      .string()
      .refine((value) => value.split(",").every((each) => names.includes(each)), "must be names of series, separated by commas")
      .transform((value) => [...new Set(value.split(","))])
      .pipe(z.array(z.string().meta({ pattern: "^[a-z0-9_]+$", maxLength: 40 })).max(names.length))
      .optional()
      .meta({
        description: `Only these series, separated by commas: ${names.join(", ")}. Default: all`,
        examples: [[first, second]],
      }),
  });
}

const values = z.array(z.number().nullable());

export const Metrics = z
  .object({
    from: fields.timestamp.meta({ description: "Where the first value begins", examples: ["2026-11-20T12:00:00.000Z"] }),
    step: z.number().meta({ description: "Seconds from one value to the next", examples: [600] }),
    series: z.array(
      z.object({
        name: z.string().meta({ description: "New series may appear", examples: ["cpu_percent"] }),
        unit: z
          .enum(SERIES_UNITS)
          .meta({ description: "100 percent of an instance are one whole processor", examples: ["percent"] }),
        values: values.meta({
          description: "What was measured in each step, or the mean of its minutes; null where nothing was",
          examples: [[12.5, 14, null]],
        }),
        maxima: values.optional().meta({
          description: "The highest minute of each step. Only with steps of more than a minute",
          examples: [[40, 31.5, null]],
        }),
      }),
    ),
  })
  .meta({ id: "Metrics" });
export type Metrics = z.infer<typeof Metrics>;
