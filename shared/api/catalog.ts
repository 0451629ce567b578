// The catalog: the servers and ERP versions on offer.
import * as z from "zod";
import { EDITIONS } from "../domain/erp-versions.ts";
import { endpoint } from "./endpoint.ts";
import * as fields from "./fields.ts";
import { ServerSpecs } from "./servers.ts";

const Price = z
  .object({
    monthly: z.number().meta({ examples: [4.49] }),
    hourly: z.number().meta({ examples: [0.0072] }),
    currency: z.string().meta({ description: "ISO 4217", examples: ["EUR"] }),
  })
  .meta({ id: "Price" });

export const CatalogProvider = z
  .object({
    code: fields.code("sandbox"),
    name: z.string().meta({ examples: ["Sandbox"] }),
    regions: z.array(z.object({ code: fields.code("eu-central"), name: z.string().meta({ examples: ["Europe (central)"] }) })),
    sizes: z.array(
      ServerSpecs.extend({
        code: fields.code("small"),
        regions: z.array(fields.code("eu-central")).meta({ description: "Codes of the regions that offer this size" }),
        price: Price.nullable().default(null).meta({
          description: "What the provider charges, without taxes, in the cheapest region; null if it publishes no prices",
        }),
        region_prices: z
          .record(z.string(), Price)
          .default({})
          .meta({ description: "Regions with another price", examples: [{}] }),
      }),
    ),
  })
  .meta({ id: "CatalogProvider" });
export type CatalogProvider = z.infer<typeof CatalogProvider>;
export type Price = z.infer<typeof Price>;

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

export const get = () =>
  endpoint({
    method: "GET",
    path: "/catalog",
    summary: "Show providers, regions, sizes, ERP versions and editions",
    description:
      "Lists the values that `POST /servers` and `POST /instances` accept: providers with their regions and sizes, ERP versions and editions.",
    access: "credential",
    data: Catalog,
  });
