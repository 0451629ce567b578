// Servers: machines at an infrastructure provider.
import * as z from "zod";
import { SERVER_ACTIONS, SERVER_STATUSES } from "../domain/lifecycle.ts";
import { DEFAULT_QUOTAS, SERVER_WORK } from "../domain/limits.ts";
import { endpoint } from "./endpoint.ts";
import * as fields from "./fields.ts";
import { asciiDomain } from "../domain/international.ts";
import { POINTS_MAX, SERVER_SERIES } from "../domain/metrics.ts";
import { Metrics, metricsQuery } from "./metrics.ts";
import { exampleId } from "../domain/id-kinds.ts";
import { justBegun } from "./just-begun.ts";
import { Operation } from "./operations.ts";
import { hasInstances, operationInProgress, overQuota, serverBusy, serverNotActive, valueTaken } from "./errors.ts";

const ServerStatus = z.enum(SERVER_STATUSES);

export const ServerSpecs = z
  .object({
    cpu: fields.integer(2),
    memory_gb: fields.integer(4),
    disk_gb: fields.integer(40),
  })
  .meta({ id: "ServerSpecs" });
export type ServerSpecs = z.infer<typeof ServerSpecs>;

/** A host label (RFC 1123) in lowercase, because the provider uses it as the machine's hostname. */
const asServerName = (text: z.ZodString) =>
  text.regex(
    /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
    "must be 1 to 63 lowercase letters, digits and hyphens, and must not start or end with a hyphen",
  );
const serverName = asServerName(z.string().trim()).meta({ examples: ["erp-1"], maxLength: 63 });
/** The same in a request, where it may be in another script. */
const serverNameInput = asServerName(z.string().trim().overwrite(asciiDomain)).meta({
  description: "A lowercase host label. It may be international (`münchen-1`): its ASCII form is stored and shown",
  examples: ["erp-1"],
  maxLength: 63,
  pattern: "^[^\\x00-\\x2c./:-`{-\\x7f]+$",
});

export const Server = z
  .object({
    id: fields.id("server"),
    name: serverName,
    name_unicode: z.string().meta({
      description: "The name as people read it; the same as `name` unless that is international",
      examples: ["erp-1"],
    }),
    ip_address: z
      .string()
      .nullable()
      .meta({ description: "Null until the provider assigns one", examples: ["203.0.113.10"] }),
    status: ServerStatus.meta({ examples: ["active"] }),
    status_reason: fields.statusReason,
    reason: fields.reason,
    provider: fields.code("sandbox"),
    region: fields.code("eu-central"),
    size: fields.code("small"),
    specs: ServerSpecs,
    ssh_key_id: fields.id("ssh_key"),
    ssh_key_name: z
      .string()
      .nullable()
      .meta({ description: "The key's name when the server was created; null for older servers", examples: ["Work laptop"] }),
    labels: fields.shownLabels,
    operation_id: fields.heldBy,
    last_seen_at: fields.timestamp.nullable().meta({ description: "When the server last passed a health check" }),
    disk_size_bytes: fields.integer(40_000_000_000).nullable().meta({
      description: "Size in bytes of the disk that holds the instances; null until the server first reports it",
    }),
    disk_free_bytes: fields.integer(31_000_000_000).nullable().meta({
      description:
        "Free space in bytes that instances can still get on that disk, which also holds backups while they are made; null until the server first reports",
    }),
    memory_free_bytes: fields
      .integer(1_900_000_000)
      .nullable()
      .meta({ description: "Memory in bytes that programs can still get; null until the server first reports" }),
    needs_reboot: z
      .boolean()
      .nullable()
      .meta({
        description:
          "Whether an update of the server's system takes effect only after a reboot; null until the server first reports it",
        examples: [false],
      }),
    reported_at: fields.timestamp.nullable().meta({
      description:
        "When the server reported its free disk space and memory. It does so about every ten minutes while it is active",
    }),
    instance_count: fields.integer(2, "How many instances are on it"),
    created_at: fields.timestamp,
    updated_at: fields.timestamp,
  })
  .meta({ id: "Server" });
export type Server = z.infer<typeof Server>;

/** Fields of a server that change on their own, as its health checks find them, or follow from other records. */
export const SERVER_OBSERVED = {
  last_seen_at: true,
  disk_size_bytes: true,
  disk_free_bytes: true,
  memory_free_bytes: true,
  needs_reboot: true,
  reported_at: true,
  instance_count: true,
} as const;
export const SERVER_UNVERSIONED = ["name_unicode", "reason", ...Object.keys(SERVER_OBSERVED)];

/** A server in a list. */
export const ListedServer = Server.omit({ last_seen_at: true }).meta({ id: "ListedServer" });
export type ListedServer = z.infer<typeof ListedServer>;

export const list = () =>
  endpoint({
    path: "/servers",
    summary: "List servers",
    description:
      "Returns the account's servers, newest first, including those still being created. Deleted servers are not listed.",
    access: ["servers:read"],
    ...fields.searchableListOf("server", ListedServer, {
      status: ServerStatus,
      provider: fields.code("sandbox"),
      region: fields.code("eu-central"),
      size: fields.code("small"),
      needs_reboot: z.enum(["true", "false"]).meta({ description: "Whether the server needs a reboot", examples: ["true"] }),
      disk_free_bytes_below: fields.queryBytes.meta({
        description: "Only servers that last reported less free disk space",
        examples: [10_000_000_000],
      }),
      memory_free_bytes_below: fields.queryBytes.meta({
        description: "Only servers that last reported less free memory",
        examples: [1_000_000_000],
      }),
      instance_count_below: fields.queryInteger(1, 1_000_000).meta({
        description: "Only servers with fewer instances",
        examples: [1],
      }),
    }),
  });

export const create = () =>
  endpoint({
    method: "POST",
    path: "/servers",
    summary: "Create a server",
    description:
      "Creates a machine at the provider. Responds immediately with the server in `provisioning`; follow `operation_id` for its progress.",
    access: ["servers:write"],
    status: 201,
    errors: () => [valueTaken("name", exampleId("server")), overQuota("server", DEFAULT_QUOTAS.server)],
    example: {
      status: "provisioning",
      ip_address: null,
      operation_id: exampleId("operation"),
      last_seen_at: null,
      disk_size_bytes: null,
      disk_free_bytes: null,
      memory_free_bytes: null,
      needs_reboot: null,
      reported_at: null,
      instance_count: 0,
    },
    starts: ["create-server"],
    body: z.strictObject({
      name: serverNameInput,
      provider: fields.code("sandbox"),
      region: fields.code("eu-central"),
      size: fields.code("small"),
      ssh_key_id: fields.id("ssh_key"),
      labels: fields.labels.optional(),
    }),
    data: Server,
  });

export const get = () =>
  endpoint({
    method: "GET",
    path: "/servers/:id",
    summary: "Show a server",
    description: "Strongly consistent: shows every change immediately.",
    access: ["servers:read"],
    unversioned: SERVER_UNVERSIONED,
    data: Server,
  });

export const metrics = () =>
  endpoint({
    method: "GET",
    path: "/servers/:id/metrics",
    summary: "Show a server's metrics",
    description: `Returns what the server measures of itself once a minute, and sends about every ten minutes. At most ${POINTS_MAX} values a series.`,
    access: ["servers:read"],
    query: metricsQuery(SERVER_SERIES),
    data: Metrics,
  });

export const update = () =>
  endpoint({
    method: "PUT",
    path: "/servers/:id",
    summary: "Change a server",
    description: "Changes it in this service only: the machine keeps the hostname that it was created with.",
    access: ["servers:write"],
    errors: () => [valueTaken("name", exampleId("server")), operationInProgress(exampleId("operation")), serverBusy("creating")],
    unversioned: SERVER_UNVERSIONED,
    body: fields.atLeastOne({ name: serverNameInput.optional(), labels: fields.labels.optional() }),
    data: Server,
  });

export const act = () =>
  endpoint({
    method: "POST",
    path: "/servers/:id/actions",
    summary: "Reboot a server, or update its software",
    description:
      `\`reboot\` restarts the machine. \`update\` installs the updates of its system's packages, and renews the images of its proxy and, one instance after the other, of the ERPs' database servers, within their major versions. ` +
      `What runs on the server ends first: after ${SERVER_WORK.quietMinutes} minutes of waiting the operation fails with \`TIMEOUT\`. Until it ends, nothing new begins on the server's instances (409 \`OPERATION_IN_PROGRESS\`), the server stays \`active\`, and its instances come back as they were. If it fails, \`status_reason\` of the server says why, until such work succeeds.`,
    access: ["servers:write"],
    status: 202,
    errors: () => [operationInProgress(exampleId("operation")), serverNotActive(exampleId("server"), "offline")],
    example: justBegun("server.reboot", "server"),
    dryRun: true,
    starts: ["reboot-server", "update-server"],
    body: z.strictObject({ action: z.enum(SERVER_ACTIONS).meta({ examples: ["reboot"] }) }),
    data: Operation,
  });

const deleteOne = () =>
  endpoint({
    method: "DELETE",
    path: "/servers/:id",
    summary: "Delete a server that has no instances",
    description: "Deletes the machine at the provider. Requests for the server return `404` once it is gone.",
    access: ["servers:write"],
    proof: () => true,
    status: 202,
    errors: () => [hasInstances(2), operationInProgress(exampleId("operation")), serverBusy("deleting")],
    example: justBegun("server.delete", "server"),
    dryRun: true,
    starts: ["delete-server"],
    data: Operation,
  });
export { deleteOne as delete };
