// Servers: machines at an infrastructure provider.
import * as z from "zod";
import { endpoint } from "./endpoint.ts";
import { code, exampleId, heldBy, id, listQuery, statusReason, timestamp } from "./fields.ts";
import { justBegun, Operation } from "./operations.ts";
import { busy, hasInstances, overQuota, taken, wrongState } from "./refusals.ts";

export const ServerStatus = z.enum(["active", "provisioning", "offline"]);
export type ServerStatus = z.infer<typeof ServerStatus>;

export const ServerSpecs = z
  .object({
    cpu: z
      .number()
      .int()
      .meta({ examples: [2] }),
    memory_gb: z
      .number()
      .int()
      .meta({ examples: [4] }),
    disk_gb: z
      .number()
      .int()
      .meta({ examples: [40] }),
  })
  .meta({ id: "ServerSpecs" });
export type ServerSpecs = z.infer<typeof ServerSpecs>;

/** A host label (RFC 1123) in lower case, because the provider makes it the machine's host name. */
const serverName = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, "must be 1 to 63 lower-case letters, digits and inner hyphens")
  .meta({ examples: ["erp-1"] });

export const Server = z
  .object({
    id: id("server"),
    name: serverName,
    ip_address: z
      .string()
      .nullable()
      .meta({ description: "Null until the provider has given one", examples: ["203.0.113.10"] }),
    status: ServerStatus.meta({ examples: ["active"] }),
    status_reason: statusReason,
    provider: code("sandbox"),
    region: code("eu-central"),
    size: code("small"),
    specs: ServerSpecs,
    ssh_key_id: id("ssh_key"),
    operation_id: heldBy,
    last_seen_at: timestamp.nullable().meta({ description: "When the machine last answered a health check" }),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Server" });
export type Server = z.infer<typeof Server>;

export const servers = {
  list: endpoint({
    method: "GET",
    path: "/servers",
    summary: "List servers",
    access: ["servers:read"],
    query: listQuery({ status: ServerStatus }),
    list: true,
    data: z.array(Server),
  }),
  create: endpoint({
    method: "POST",
    path: "/servers",
    summary: "Create a server",
    description:
      "Rents a machine from the provider. The answer comes at once, with the server `provisioning`; `operation_id` tells how it goes.",
    access: ["servers:write"],
    status: 201,
    refusals: [taken("name", "server"), overQuota("server")],
    example: { status: "provisioning", ip_address: null, operation_id: exampleId("operation"), last_seen_at: null },
    starts: ["create-server"],
    body: z.strictObject({
      name: serverName,
      provider: code("sandbox"),
      region: code("eu-central"),
      size: code("small"),
      ssh_key_id: id("ssh_key"),
    }),
    data: Server,
  }),
  get: endpoint({ method: "GET", path: "/servers/:id", summary: "Show a server", access: ["servers:read"], data: Server }),
  update: endpoint({
    method: "PUT",
    path: "/servers/:id",
    summary: "Rename a server",
    access: ["servers:write"],
    refusals: [
      taken("name", "server"),
      busy,
      wrongState("provisioning", "The server is being created, which does not allow this"),
    ],
    body: z.strictObject({ name: serverName }),
    data: Server,
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/servers/:id",
    summary: "Delete a server that has no instances",
    description: "Gives the machine back to the provider. The record answers 404 once it is gone.",
    access: ["servers:write"],
    status: 202,
    refusals: [hasInstances, busy, wrongState("offline", "The server is being deleted, which does not allow this")],
    example: justBegun("server.delete", "server"),
    starts: ["delete-server"],
    data: Operation,
  }),
};
