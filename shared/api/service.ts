// Public endpoints (health, the OpenAPI document), and those that exist in the sandbox only.
import * as z from "zod";
import { ENVIRONMENTS } from "../domain/environments.ts";
import { endpoint } from "./endpoint.ts";
import { erpNotInstalled } from "./errors.ts";
import { characters } from "./fields.ts";

export const health = {
  get: endpoint({
    method: "GET",
    path: "/health",
    stateless: true,
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
  }),
};

export const openapi = {
  get: endpoint({
    method: "GET",
    path: "/openapi.json",
    stateless: true,
    summary: "Get the OpenAPI 3.1 document of this API",
    description: "Returns the document itself, not wrapped in `data`, so that tools can load it from this URL.",
    access: "public",
    unenveloped: true,
    unversioned: [],
    data: z.looseObject({ openapi: z.string().meta({ examples: ["3.1.1"] }) }),
  }),
};

/** The data of a sandbox instance's simulated ERP: any JSON object, which shows that backup, restore and clone carry it. */
const SandboxData = z
  .record(characters(0, 200), z.unknown())
  .meta({ id: "SandboxData", examples: [{ orders: 3, note: "hello" }] });

export const sandbox = {
  getData: endpoint({
    method: "GET",
    path: "/sandbox/instances/:id/data",
    summary: "Show a sandbox instance's data",
    description: "Returns the data as last written, restored or cloned.",
    access: ["instances:read"],
    only: "test",
    errors: [erpNotInstalled("failed")],
    unversioned: [],
    data: SandboxData,
  }),
  putData: endpoint({
    method: "PUT",
    path: "/sandbox/instances/:id/data",
    summary: "Replace a sandbox instance's data",
    description: "Takes a JSON object of up to 4 KiB, which stands for what users entered in the ERP.",
    access: ["instances:write"],
    only: "test",
    errors: [erpNotInstalled("failed")],
    unversioned: [],
    body: SandboxData,
    data: SandboxData,
  }),
};
