// What is in front of the API: the headers that CloudFront adds to the requests that it passes on, and to their responses.
import * as z from "zod";
import type { Resource } from "./resolve.ts";

export interface Front {
  /** Added to every request for the API. */
  requestHeaders: Record<string, string>;
  /** Added to the responses of a path, by the first behavior that has it. */
  behaviors: { pattern: string; headers: [string, string][] }[];
}

const DistributionProperties = z.object({
  DistributionConfig: z.object({
    Origins: z.array(
      z.object({
        OriginCustomHeaders: z.array(z.object({ HeaderName: z.string(), HeaderValue: z.string() })).default([]),
      }),
    ),
    CacheBehaviors: z.array(z.object({ PathPattern: z.string(), ResponseHeadersPolicyId: z.string() })).default([]),
  }),
});
const PolicyProperties = z.object({
  ResponseHeadersPolicyConfig: z.object({
    CustomHeadersConfig: z.object({ Items: z.array(z.object({ Header: z.string(), Value: z.string() })) }),
  }),
});

export function readFront([distribution]: readonly Resource[], policies: readonly Resource[]): Front | undefined {
  if (distribution === undefined) return undefined;
  const { Origins, CacheBehaviors } = DistributionProperties.parse(distribution.properties).DistributionConfig;
  const headers = Origins.flatMap(({ OriginCustomHeaders }) => OriginCustomHeaders);
  return {
    requestHeaders: Object.fromEntries(headers.map(({ HeaderName, HeaderValue }) => [HeaderName, HeaderValue])),
    behaviors: CacheBehaviors.map(({ PathPattern, ResponseHeadersPolicyId }) => {
      const policy = policies.find(({ name }) => name === ResponseHeadersPolicyId);
      const { Items } = PolicyProperties.parse(policy?.properties).ResponseHeadersPolicyConfig.CustomHeadersConfig;
      return { pattern: PathPattern, headers: Items.map(({ Header, Value }) => [Header, Value]) };
    }),
  };
}

/** The response as CloudFront passes it on. */
export function withFrontHeaders<R extends { headers: [string, string][] }>(
  front: Front | undefined,
  path: string,
  response: R,
): R {
  const added = front?.behaviors.find(({ pattern }) =>
    pattern.endsWith("*") ? path.startsWith(pattern.slice(0, -1)) : path === pattern,
  )?.headers;
  if (added === undefined) return response;
  const others = response.headers.filter(([name]) => added.every(([other]) => other !== name));
  return { ...response, headers: [...others, ...added] };
}
