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
  .meta({ examples: ["erp-1"], maxLength: 63 });

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

/** What changes of a server by itself. */
export const SERVER_UNVERSIONED = ["last_seen_at"];

export const servers = {
  list: endpoint({
    method: "GET",
    path: "/servers",
    summary: "List servers",
    description:
      "The account's servers, newest first. Those that are being created are among them, those that were deleted are not.",
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
  get: endpoint({
    method: "GET",
    path: "/servers/:id",
    summary: "Show a server",
    description: "Always as it is now: a server that was just changed shows it at once.",
    access: ["servers:read"],
    unversioned: SERVER_UNVERSIONED,
    data: Server,
  }),
  update: endpoint({
    method: "PUT",
    path: "/servers/:id",
    summary: "Rename a server",
    description: "Changes the name in the service only: the machine keeps the host name that it was made with.",
    access: ["servers:write"],
    refusals: [
      taken("name", "server"),
      busy,
      wrongState("provisioning", "The server is being created, which does not allow this"),
    ],
    unversioned: SERVER_UNVERSIONED,
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
