// Has the one function read a log that may sign in to machines for it.
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import * as z from "zod";
import { unavailable } from "../api/errors.ts";
import * as fields from "../api/fields.ts";
import { LOG_READS } from "../domain/limits.ts";
import { LOG_LEVELS, LOG_SOURCES } from "../domain/log-levels.ts";
import { POSITION } from "../domain/log-positions.ts";
import { LOG_CALLS } from "../platform/aws-calls.ts";
import { variable } from "../platform/env.ts";

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

/** Of an operation that is in progress: what its jobs on a machine have logged. */
export const WorkReading = z.strictObject({
  account_id: LogReading.shape.account_id,
  server: LogReading.shape.server,
  operation_id: z.string().regex(/^[a-z0-9_]{1,50}$/),
  /** Whose code may print its secrets. */
  instance_id: LogReading.shape.instance_id.optional(),
  backup_id: LogReading.shape.instance_id.optional(),
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

export const readWorkLog = async (reading: WorkReading): Promise<string> => z.string().parse(await invoke(reading));

/** Throws SERVICE_UNAVAILABLE if the machine does not respond in time, whatever is the reason. */
async function invoke(reading: LogReading | WorkReading): Promise<unknown> {
  client ??= new LambdaClient(LOG_CALLS);
  const command = new InvokeCommand({ FunctionName: variable("READ_LOGS_FUNCTION"), Payload: JSON.stringify(reading) });
  const { Payload, FunctionError } = await client.send(command);
  const text = Payload?.transformToString() ?? "null";
  if (FunctionError !== undefined) throw unavailable(new Error(text.slice(0, 1_000)));
  return JSON.parse(text);
}
