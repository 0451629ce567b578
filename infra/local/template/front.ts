// What is in front of the API: the headers that CloudFront adds to the requests that it passes on.
import * as z from "zod";
import type { Resource } from "./resolve.ts";

const DistributionProperties = z.object({
  DistributionConfig: z.object({
    Origins: z.array(
      z.object({
        OriginCustomHeaders: z.array(z.object({ HeaderName: z.string(), HeaderValue: z.string() })).default([]),
      }),
    ),
  }),
});

export function frontOf([distribution]: readonly Resource[]): Record<string, string> | undefined {
  if (distribution === undefined) return undefined;
  const { Origins } = DistributionProperties.parse(distribution.properties).DistributionConfig;
  const headers = Origins.flatMap(({ OriginCustomHeaders }) => OriginCustomHeaders);
  return Object.fromEntries(headers.map(({ HeaderName, HeaderValue }) => [HeaderName, HeaderValue]));
}
