// The catalog: the servers and ERP versions on offer.
import * as z from "zod";
import { endpoint } from "./endpoint.ts";
import { code } from "./fields.ts";
import { EDITIONS } from "./instances.ts";
import { ServerSpecs } from "./servers.ts";

export const CatalogProvider = z
  .object({
    code: code("sandbox"),
    name: z.string().meta({ examples: ["Sandbox"] }),
    regions: z.array(z.object({ code: code("eu-central"), name: z.string().meta({ examples: ["Europe (central)"] }) })),
    sizes: z.array(
      ServerSpecs.extend({
        code: code("small"),
        regions: z.array(code("eu-central")).meta({ description: "Codes of the regions that offer this size" }),
      }),
    ),
  })
  .meta({ id: "CatalogProvider" });
export type CatalogProvider = z.infer<typeof CatalogProvider>;

export const Catalog = z
  .object({
    providers: z.array(CatalogProvider),
    erp_versions: z.array(
      z.object({ version: z.string().meta({ examples: ["19.0"] }), deprecated: z.boolean().meta({ examples: [false] }) }),
    ),
    editions: z
      .array(z.enum(EDITIONS))
      .meta({ description: "Editions you can install on this service", examples: [["community"]] }),
  })
  .meta({ id: "Catalog" });
export type Catalog = z.infer<typeof Catalog>;

export const catalog = {
  get: endpoint({
    method: "GET",
    path: "/catalog",
    summary: "Show providers, regions, sizes, ERP versions and editions",
    description:
      "Lists the values that `POST /servers` and `POST /instances` accept: providers with their regions and sizes, ERP versions and editions.",
    access: "credential",
    data: Catalog,
  }),
};
