// The services behind the endpoint, and how to call each after authorization.
import type { Readable } from "node:stream";
import * as z from "zod";
import { callDynamoDb, describeTable, type Database, type Table } from "../dynamodb/dynamodb.ts";
import { AwsFault } from "../errors.ts";
import type { Known } from "../iam/permissions.ts";
import { FunctionError } from "../lambda/function-error.ts";
import type { Storage } from "../s3/storage.ts";
import { ACCOUNT, REGION } from "../template/resolve.ts";
import type { Call } from "./calls.ts";

type JsonService = (action: string, input: unknown) => Promise<unknown>;
export interface Services {
  database: Database;
  /** Persists what DynamoDB Local has acknowledged. */
  flush: () => Promise<void>;
  states: JsonService;
  secretsmanager: JsonService;
  sqs: JsonService;
  /** Runs a function and returns what it does; throws its error. */
  lambda: (functionArn: string, payload: unknown) => Promise<unknown>;
  /** Called when the database has accepted a call. */
  written: (action: string, input: unknown) => void;
  storage: Storage;
}

export interface ServiceResponse {
  status: number;
  headers?: Record<string, string>;
  body?: string | Readable;
}

/** Lambda's only call: a function that fails is a success of the call, with its error as the payload. */
export async function invokeFunction({ lambda }: Services, functionArn: string, payload: unknown): Promise<ServiceResponse> {
  try {
    return json((await lambda(functionArn, payload)) ?? null);
  } catch (error) {
    if (!(error instanceof FunctionError)) throw error;
    const { name: errorType, message: errorMessage, trace } = error;
    return { ...json({ errorType, errorMessage, trace }), headers: { "x-amz-function-error": "Unhandled" } };
  }
}

const SecretDescription = z.object({ ARN: z.string() });

export function listKnown({ database, secretsmanager }: Services): Known {
  const tables = new Map<string, Table>();
  return {
    async partitionKey(name, index) {
      const table = tables.get(name) ?? (await describeTable(database, name));
      if (table === undefined) return undefined;
      tables.set(name, table);
      const indexes = [...(table.GlobalSecondaryIndexes ?? []), ...(table.LocalSecondaryIndexes ?? [])];
      const keys = index === undefined ? table.KeySchema : indexes.find(({ IndexName }) => IndexName === index)?.KeySchema;
      return keys?.find(({ KeyType }) => KeyType === "HASH")?.AttributeName;
    },
    async secretArn(SecretId) {
      const described = await secretsmanager("DescribeSecret", { SecretId }).catch(() => undefined);
      const arn = SecretDescription.safeParse(described).data?.ARN;
      return arn ?? (SecretId.startsWith("arn:") ? SecretId : `arn:aws:secretsmanager:${REGION}:${ACCOUNT}:secret:${SecretId}`);
    },
  };
}

const MEASURED = /^(Get|Put|Update|Delete|BatchGet|BatchWrite|TransactGet|TransactWrite)Items?$|^(Query|Scan)$/;
// Here and below every schema is built once: building one costs more than the rest of a call.
const Measurable = z.looseObject({ ReturnConsumedCapacity: z.string().default("NONE") });
const Units = z.object({ CapacityUnits: z.number() });
const Failed = z.looseObject({});
const Consumed = z.looseObject({ ConsumedCapacity: z.union([Units, z.array(Units)]) });

/** Requests the consumed capacity, which tests count, and removes it from the response if the caller did not request it. */
export async function dynamodb(
  { database, flush }: Services,
  action: string,
  input: unknown,
  call: Call,
): Promise<ServiceResponse> {
  const measurable = Measurable.parse(input);
  const hidden = MEASURED.test(action) && measurable.ReturnConsumedCapacity === "NONE";
  const { status, body } = await callDynamoDb(
    database,
    action,
    hidden ? { ...measurable, ReturnConsumedCapacity: "TOTAL" } : input,
  ).catch((cause: unknown) => {
    throw new AwsFault("InternalServerError", `DynamoDB Local does not respond: ${String(cause)}`, 500);
  });
  if (status === 200 && action === "TransactWriteItems") await flush();
  if (status !== 200) call.error = String(Failed.parse(body)["__type"]).split("#").at(-1) ?? "?";
  const buildResponse = (value: unknown): ServiceResponse => ({
    status,
    headers: { "content-type": JSON_TYPE },
    body: JSON.stringify(value),
  });
  const measured = Consumed.safeParse(body);
  if (!measured.success) return buildResponse(body);
  const { ConsumedCapacity, ...rest } = measured.data;
  call.capacity = [ConsumedCapacity].flat().reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
  return buildResponse(hidden ? rest : body);
}

const JSON_TYPE = "application/x-amz-json-1.0";

/** Times are seconds in AWS's JSON; a service here may return a Date. */
export function json(value: unknown, status = 200): ServiceResponse {
  const body = JSON.stringify(value ?? {}, function seconds(this: Record<string, unknown>, key, text: unknown) {
    const original = this[key];
    return original instanceof Date ? original.getTime() / 1000 : text;
  });
  return { status, headers: { "content-type": JSON_TYPE }, body };
}
