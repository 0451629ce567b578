// The IAM permissions that a call of the JSON services needs, as AWS documents them: actions and resources.
import * as z from "zod";
import { AwsFault } from "../errors.ts";
import type { Context, Need } from "./iam.ts";
import { ACCOUNT, REGION } from "../template/resolve.ts";

/** Known only to the services: the key of a table or index, and the full ARN of a secret. */
export interface Known {
  partitionKey: (table: string, index: string | undefined) => Promise<string | undefined>;
  secretArn: (secretId: string) => Promise<string>;
}

const OneTable = z.looseObject({ TableName: z.string(), IndexName: z.string().optional() });
const Batch = z.object({ RequestItems: z.record(z.string(), z.unknown()) });
const Transaction = z.object({ TransactItems: z.array(z.record(z.string(), OneTable)) });
const OfSecret = z.object({ SecretId: z.string().default("*") });
const OfQueue = z.object({ QueueUrl: z.string() });
const OfStates = z.object({ executionArn: z.string().optional(), stateMachineArn: z.string().optional() });
const KeyValue = z.union([z.object({ S: z.string() }), z.object({ N: z.string() }), z.object({ B: z.string() })]);
const Fields = z.record(z.string(), z.unknown());
const Names = z.record(z.string(), z.string());
const TRANSACTED = new Map([
  ["Get", "GetItem"],
  ["Put", "PutItem"],
  ["Update", "UpdateItem"],
  ["Delete", "DeleteItem"],
  ["ConditionCheck", "ConditionCheckItem"],
]);

export async function permissionsFor(service: string, action: string, input: unknown, resources: Known): Promise<Need[]> {
  switch (service) {
    case "dynamodb":
      return dynamodb(action, input, resources);
    case "states":
      return [{ action: `states:${action}`, resource: stateResource(input) }];
    case "secretsmanager": {
      const { SecretId } = parse(OfSecret, input);
      return [{ action: `secretsmanager:${action}`, resource: SecretId === "*" ? "*" : await resources.secretArn(SecretId) }];
    }
    case "sqs": {
      const queue = parse(OfQueue, input).QueueUrl.split("/").at(-1) ?? "";
      return [{ action: `sqs:${action.replace("Batch", "")}`, resource: `arn:aws:sqs:${REGION}:${ACCOUNT}:${queue}` }];
    }
    default:
      return [];
  }
}

/** A call without its own resource (ListStateMachines, SendTaskSuccess) needs it on all. */
function stateResource(input: unknown): string {
  const { executionArn, stateMachineArn } = parse(OfStates, input);
  return executionArn ?? stateMachineArn ?? "*";
}

function dynamodb(action: string, input: unknown, resources: Known): Need[] {
  const need = (name: string, request: z.infer<typeof OneTable>): Need => {
    const table = request.TableName.split("/").at(-1) ?? ""; // a call may name a table by its ARN
    const index = request.IndexName === undefined ? "" : `/index/${request.IndexName}`;
    const resource = `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${table}${index}`;
    return {
      action: `dynamodb:${name}`,
      resource,
      context: async () => leadingKeys(request, await resources.partitionKey(table, request.IndexName)),
    };
  };
  switch (action) {
    case "TransactGetItems":
    case "TransactWriteItems":
      return parse(Transaction, input)
        .TransactItems.flatMap((item) => Object.entries(item))
        .map(([verb, request]) => need(TRANSACTED.get(verb) ?? verb, request));
    case "BatchGetItem":
    case "BatchWriteItem":
      return Object.entries(parse(Batch, input).RequestItems).map(([TableName, requests]) =>
        need(action, { TableName, requests }),
      );
    case "ListTables":
    case "DescribeLimits":
    case "DescribeEndpoints":
      return [{ action: `dynamodb:${action}`, resource: "*" }];
    default:
      return [need(action, parse(OneTable, input))];
  }
}

/** dynamodb:LeadingKeys: the partition keys that a call uses, wherever the request has them. */
function leadingKeys(request: z.infer<typeof OneTable>, partitionKey: string | undefined): Context {
  if (partitionKey === undefined) return {};
  const partitionKeys = new Set<string>();
  const add = (value: unknown): void => {
    const key = KeyValue.safeParse(value);
    if (key.success) Object.values(key.data).forEach((text: string) => partitionKeys.add(text));
  };
  const search = (part: unknown): void => {
    if (Array.isArray(part)) return part.forEach(search);
    const fields = Fields.safeParse(part).data ?? {};
    for (const [name, inside] of Object.entries(fields)) {
      const item = name === "Key" || name === "Item" ? Fields.safeParse(inside).data : undefined;
      if (item) add(item[partitionKey]);
      else if (name === "Keys" && Array.isArray(inside)) inside.forEach((Key) => search({ Key }));
      else if (name === "requests" || name.endsWith("Request")) search(inside);
    }
  };
  search(request);
  const names = Names.safeParse(request["ExpressionAttributeNames"]).data ?? {};
  const values = Fields.safeParse(request["ExpressionAttributeValues"]).data ?? {};
  const condition = typeof request["KeyConditionExpression"] === "string" ? request["KeyConditionExpression"] : "";
  for (const [, name = "", placeholder = ""] of condition.matchAll(/(#?\w+)\s*=\s*(:\w+)/g))
    if ((names[name] ?? name) === partitionKey) add(values[placeholder]);
  return { "dynamodb:LeadingKeys": [...partitionKeys] };
}

function parse<T>(schema: z.ZodType<T>, input: unknown): T {
  const parsed = schema.safeParse(input);
  if (!parsed.success) throw new AwsFault("ValidationException", z.prettifyError(parsed.error));
  return parsed.data;
}
