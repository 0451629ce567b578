// The description of this API: openapi/describe.ts makes it.
import * as z from "zod";
import { endpoint } from "./endpoint.ts";

export const get = () =>
  endpoint({
    method: "GET",
    path: "/openapi.json",
    summary: "Get the OpenAPI 3.1 document of this API",
    description: "Returns the document itself, not wrapped in `data`, so that tools can load it from this URL.",
    access: "public",
    unenveloped: true,
    unversioned: [],
    data: z.looseObject({ openapi: z.string().meta({ examples: ["3.1.1"] }) }),
  });
