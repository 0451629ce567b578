// What is open to all (health, this API's description), and what exists in the sandbox only.
import * as z from "zod";
import { endpoint } from "./endpoint.ts";
import { characters } from "./fields.ts";
import { wrongState } from "./refusals.ts";

export const health = {
  get: endpoint({
    method: "GET",
    path: "/health",
    stateless: true,
    summary: "Show that the service answers, and its version",
    description: "Looks at nothing behind it: no credential, no database.",
    access: "public",
    data: z.object({
      status: z.literal("ok"),
      environment: z.enum(["live", "test"]).meta({ examples: ["test"] }),
      version: z.string().meta({ examples: ["0.1.0"] }),
    }),
  }),
};

export const openapi = {
  get: endpoint({
    method: "GET",
    path: "/openapi.json",
    stateless: true,
    summary: "Get this API's description (OpenAPI 3.1)",
    description: "The document itself, not wrapped in `data`, so that tools can read it from this address.",
    access: "public",
    bare: true,
    unversioned: [],
    data: z.looseObject({ openapi: z.string().meta({ examples: ["3.1.1"] }) }),
  }),
};

/** What people wrote in a sandbox instance's ERP: any JSON object, so that backup, restore and clone can be seen to carry it. */
const SandboxData = z
  .record(characters(0, 200), z.unknown())
  .meta({ id: "SandboxData", examples: [{ orders: 3, note: "hello" }] });

/** Largest data of a sandbox instance, in bytes of JSON. */
export const SANDBOX_DATA_BYTES = 4096;

const noErp = wrongState("failed", "The instance has no ERP that could hold data");

export const sandbox = {
  getData: endpoint({
    method: "GET",
    path: "/sandbox/instances/:id/data",
    summary: "Show what a sandbox instance holds",
    description: "What was last written to it, or what the restore or the clone brought.",
    access: ["instances:read"],
    only: "test",
    refusals: [noErp],
    unversioned: [],
    data: SandboxData,
  }),
  putData: endpoint({
    method: "PUT",
    path: "/sandbox/instances/:id/data",
    summary: "Replace what a sandbox instance holds",
    description: "A JSON object of up to 4 KiB that stands for what people wrote in that ERP.",
    access: ["instances:write"],
    only: "test",
    refusals: [noErp],
    unversioned: [],
    body: SandboxData,
    data: SandboxData,
  }),
};
