// Whether the service responds.
import * as z from "zod";
import { ENVIRONMENTS } from "../domain/environments.ts";
import { endpoint } from "./endpoint.ts";

export const get = () =>
  endpoint({
    method: "GET",
    path: "/health",
    summary: "Check that the service responds",
    description:
      "Returns the service's version, its commit (null if it was built from files without Git) and its environment. Does not check the database or any other dependency.",
    access: "public",
    data: z.object({
      status: z.literal("ok"),
      environment: z.enum(ENVIRONMENTS).meta({ examples: ["test"] }),
      version: z.string().meta({ examples: ["1.0.0"] }),
      commit: z
        .string()
        .nullable()
        .meta({ examples: ["87002eb7a4a25f1bb7ba8ba9d6a6c3bd2d80f9ab"] }),
    }),
  });
