// Has the one function read a log that may sign in to machines for it.
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import * as z from "zod";
import { unavailable } from "../api/errors.ts";
import * as fields from "../api/fields.ts";
import { LOG_READS } from "../domain/limits.ts";
import { LOG_LEVELS, LOG_SOURCES } from "../domain/log-levels.ts";
import { POSITION } from "../domain/log-positions.ts";
import { find } from "../data/table.ts";
import { LOG_CALLS } from "../platform/aws-calls.ts";
import { variable } from "../platform/env.ts";
import { instanceRef } from "../records/instances.ts";
import type { OperationRecord } from "../records/schemas/operation.ts";
import type { ServerRecord } from "../records/schemas/server.ts";
import { serverRef } from "../records/servers.ts";

/** What is read: the server as far as it must be known to sign in, and checked parameters. */
export const LogReading = z.object({
  account_id: z.string(),
  server: z.object({
    id: z.string(),
    machine_id: z.string().nullable(),
    ip_address: z.string().nullable(),
    ssh_port: z.number().nullable(),
    host_keys: z.array(z.string()),
  }),
  instance_id: z.string().regex(/^[a-z0-9_]{1,50}$/),
  /** The operation in progress on the instance, whose secrets must not be in the log. */
  operation_id: z.string().nullable(),
  source: z.enum(LOG_SOURCES),
  lines: z.number().int().min(1).max(LOG_READS.linesMax),
  since: fields.timestamp.optional(),
  until: fields.timestamp.optional(),
  level: z.enum(LOG_LEVELS).optional(),
  search: z.string().optional(),
  after: z.string().regex(POSITION).optional(),
});
export type LogReading = z.infer<typeof LogReading>;

/** Reads what the jobs of an operation in progress have logged on their machine. */
export const WorkReading = z.strictObject({
  account_id: LogReading.shape.account_id,
  server: LogReading.shape.server,
  operation_id: z.string().regex(/^[a-z0-9_]{1,50}$/),
  /** Whose code may print its secrets. */
  instance_id: LogReading.shape.instance_id.optional(),
  backup_id: LogReading.shape.instance_id.optional(),
  deploy_id: LogReading.shape.instance_id.optional(),
});
export type WorkReading = z.infer<typeof WorkReading>;

const ReadLog = z.object({
  installed: z.boolean(),
  lines: z
    .array(
      z.object({
        at: z.string(),
        level: z.enum(LOG_LEVELS).nullable(),
        logger: z.string().nullable(),
        message: z.string(),
      }),
    )
    .default([]),
  truncated: z.boolean().default(false),
  /** Empty without an ERP. */
  next: z.string().default(""),
});
export type ReadLog = z.input<typeof ReadLog>;

let client: LambdaClient | undefined;

export const readLog = async (reading: LogReading): Promise<z.output<typeof ReadLog>> => ReadLog.parse(await invoke(reading));

/** What the jobs of an operation have logged; empty as long as there is no machine. */
export async function readLogOf(operation: OperationRecord): Promise<string> {
  const server = await serverOf(operation);
  if (server === undefined) return "";
  const { id, machine_id, ip_address, ssh_port, host_keys } = server;
  const { account_id, id: operation_id } = operation;
  const code = {
    instance_id: idIn(operation, "instance_id"),
    backup_id: idIn(operation, "backup_id"),
    deploy_id: idIn(operation, "deploy_id"),
  };
  const on = { id, machine_id, ip_address, ssh_port, host_keys };
  const reading: WorkReading = { account_id, operation_id, ...code, server: on };
  return z.string().parse(await invoke(reading));
}

/** Finds the server on which the operation's jobs run; undefined as long as there is no machine. */
async function serverOf(operation: OperationRecord): Promise<ServerRecord | undefined> {
  const { account_id } = operation;
  const instance = idIn(operation, "instance_id");
  const of = instance === undefined ? undefined : await find(instanceRef(account_id, instance));
  const id = idIn(operation, "server_id") ?? of?.server_id;
  const server = id === undefined ? undefined : await find(serverRef(account_id, id));
  return server?.ip_address == null ? undefined : server;
}

function idIn({ input }: OperationRecord, name: "server_id" | "instance_id" | "backup_id" | "deploy_id"): string | undefined {
  const id = input[name];
  return typeof id === "string" ? id : undefined;
}

/** Throws SERVICE_UNAVAILABLE if the machine does not respond in time, whatever is the reason. */
async function invoke(reading: LogReading | WorkReading): Promise<unknown> {
  client ??= new LambdaClient(LOG_CALLS);
  const command = new InvokeCommand({ FunctionName: variable("READ_LOGS_FUNCTION"), Payload: JSON.stringify(reading) });
  const { Payload, FunctionError } = await client.send(command);
  const text = Payload?.transformToString() ?? "null";
  if (FunctionError !== undefined) throw unavailable(new Error(text.slice(0, 1_000)));
  return JSON.parse(text);
}
