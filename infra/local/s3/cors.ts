// CORS of the local S3: the bucket's own rules, for this machine's dashboard in place of CloudFront's.
import * as z from "zod";
import type { Resource } from "../template/resolve.ts";

const Rule = z.object({
  AllowedMethods: z.array(z.string()),
  AllowedHeaders: z.array(z.string()).default([]),
  ExposedHeaders: z.array(z.string()).default([]),
  MaxAge: z.number().default(0),
});
const Configured = z.object({ CorsConfiguration: z.object({ CorsRules: z.array(Rule) }).optional() });

export interface Cors {
  /** The rules of each bucket. */
  rules: ReadonlyMap<string, z.infer<typeof Rule>[]>;
  /** Returns the origins at which the dashboard may be opened, which are known once the gateway listens. */
  origins: () => readonly string[];
}

export const listCorsRules = (buckets: readonly Resource[]): Cors["rules"] =>
  new Map(buckets.map(({ name, properties }) => [name, Configured.parse(properties).CorsConfiguration?.CorsRules ?? []]));

interface Asked {
  method: string;
  path: string;
  headers: Readonly<Record<string, string>>;
}

/** The headers for a browser; undefined if no rule allows the request, as S3 then sends none. */
export function corsHeaders({ rules, origins }: Cors, { method, path, headers }: Asked): Record<string, string> | undefined {
  const allowed = origins().find((each) => each === headers["origin"]);
  if (allowed === undefined) return undefined;
  const isPreflight = method === "OPTIONS";
  const requestedMethod = isPreflight ? headers["access-control-request-method"] : method;
  const requestedHeaders = (headers["access-control-request-headers"] ?? "").split(",").map((name) => name.trim().toLowerCase());
  const rule = (rules.get(path.split("/")[1] ?? "") ?? []).find(
    ({ AllowedMethods, AllowedHeaders }) =>
      AllowedMethods.includes(requestedMethod ?? "") &&
      (!isPreflight ||
        requestedHeaders.every((name) => name === "" || AllowedHeaders.some((each) => each.toLowerCase() === name))),
  );
  if (rule === undefined) return undefined;
  return {
    "access-control-allow-origin": allowed,
    "access-control-allow-methods": rule.AllowedMethods.join(", "),
    vary: "Origin, Access-Control-Request-Headers, Access-Control-Request-Method",
    ...(isPreflight && {
      "access-control-allow-headers": requestedHeaders.join(", "),
      "access-control-max-age": String(rule.MaxAge),
    }),
    ...(rule.ExposedHeaders.length > 0 && { "access-control-expose-headers": rule.ExposedHeaders.join(", ") }),
  };
}
