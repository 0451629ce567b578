// The writes of a transaction, as values: what to write, on which condition, and which error the client gets if it does not hold.
import type { TransactWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import { env } from "../platform/env.ts";
import { buildCondition, buildUpdate, type Update, type Where } from "./expressions.ts";
import { type Key, keyString, type Item } from "./keys.ts";

type TransactItem = NonNullable<TransactWriteCommandInput["TransactItems"]>[number];

/** One item of a transaction, and the error to throw if its condition fails, given the current item. */
export interface Write {
  item: TransactItem;
  conditionError: ((current: Item | undefined) => Error | undefined) | undefined;
  /**
   * What to write instead of this, and of all writes that have the same function, when the transaction is tried again because
   * another one was writing this item.
   */
  elsewhere?: () => Write[];
}

type ConditionError = Write["conditionError"];

/** The key of the item that is written. */
export function keyOfWrite({ item: { Put, Update, Delete, ConditionCheck } }: Write): string {
  const item = Put?.Item ?? Update?.Key ?? Delete?.Key ?? ConditionCheck?.Key ?? {};
  return keyString(item);
}

/** It only checks an item. */
export const isConditionOnly = ({ item: { ConditionCheck } }: Write): boolean => ConditionCheck !== undefined;

/** The same write, if its item still has these values, too. */
export function onlyIfUnchanged(
  { item, conditionError }: Write,
  values: Item,
  changed: (current: Item) => Error | undefined,
): Write {
  const [[kind, request] = []] = Object.entries(item);
  if (kind === undefined || request === undefined) throw new Error("A write must change something");
  const names = Object.keys(values);
  // An attribute that an older record lacks has a default when it is read.
  const terms = names.map((_, i) => `(#was${i} = :was${i} OR attribute_not_exists(#was${i}))`);
  const { ConditionExpression, ExpressionAttributeNames, ExpressionAttributeValues } = request;
  const conditional = {
    ...request,
    ConditionExpression: [...(ConditionExpression === undefined ? [] : [`(${ConditionExpression})`]), ...terms].join(" AND "),
    ExpressionAttributeNames: { ...ExpressionAttributeNames, ...Object.fromEntries(names.map((name, i) => [`#was${i}`, name])) },
    ExpressionAttributeValues: {
      ...ExpressionAttributeValues,
      ...Object.fromEntries(names.map((name, i) => [`:was${i}`, values[name]])),
    },
  };
  return {
    item: { [kind]: conditional },
    conditionError: (current) => {
      const error = (current && changed(current)) ?? conditionError?.(current);
      return error ?? new Error("A record without a condition changed");
    },
  };
}

/** The condition of a write, without the write: nothing where it has none. */
export function conditionOnly({ item: { Put, Update, Delete, ConditionCheck }, conditionError }: Write): Write[] {
  const request = Put ?? Update ?? Delete ?? ConditionCheck;
  const { TableName, ConditionExpression, ExpressionAttributeNames = {}, ExpressionAttributeValues = {} } = request ?? {};
  if (TableName === undefined || ConditionExpression === undefined) return [];
  const { pk, sk } = Put?.Item ?? Update?.Key ?? Delete?.Key ?? ConditionCheck?.Key ?? {};
  // DynamoDB rejects names and values that the expression does not use.
  const aliases = new Set(ConditionExpression.match(/[#:]\w+/g));
  const used = <T>(all: Record<string, T>): Record<string, T> | undefined => {
    const entries = Object.entries(all).filter(([alias]) => aliases.has(alias));
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  };
  return [
    {
      item: {
        ConditionCheck: {
          TableName,
          Key: { pk, sk },
          ConditionExpression,
          ExpressionAttributeNames: used(ExpressionAttributeNames),
          ExpressionAttributeValues: used(ExpressionAttributeValues),
          ReturnValuesOnConditionCheckFailure: "ALL_OLD",
        },
      },
      conditionError,
    },
  ];
}

/** Writes an item that must not exist yet. */
export function put(key: Key, item: Item, conditionError?: ConditionError, unless?: { expiredBy: string }): Write {
  const condition = unless === undefined ? "attribute_not_exists(pk)" : "attribute_not_exists(pk) OR expires_at < :now";
  return {
    item: {
      Put: {
        TableName: env().TABLE_NAME,
        Item: { ...item, ...key },
        ConditionExpression: condition,
        ...(unless !== undefined && { ExpressionAttributeValues: { ":now": unless.expiredBy } }),
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      },
    },
    conditionError,
  };
}

export function update(key: Key, update: Update, where: Where = {}, conditionError?: ConditionError): Write {
  return {
    item: {
      Update: {
        TableName: env().TABLE_NAME,
        Key: { ...key },
        ...buildUpdate(update, where),
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      },
    },
    conditionError,
  };
}

export function remove(key: Key, where: Where = { exists: false }, conditionError?: ConditionError): Write {
  return {
    item: {
      Delete: {
        TableName: env().TABLE_NAME,
        Key: { ...key },
        ...buildCondition(where),
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      },
    },
    conditionError,
  };
}

/** The condition that there is no such item. */
export const checkAbsent = (key: Key, conditionError: ConditionError): Write => ({
  item: {
    ConditionCheck: {
      TableName: env().TABLE_NAME,
      Key: { ...key },
      ConditionExpression: "attribute_not_exists(pk)",
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    },
  },
  conditionError,
});

export function check(key: Key, where: Where, conditionError?: ConditionError): Write {
  const { ConditionExpression = "attribute_exists(pk)", ...expression } = buildCondition(where);
  return {
    item: {
      ConditionCheck: {
        TableName: env().TABLE_NAME,
        Key: { ...key },
        ConditionExpression,
        ...expression,
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      },
    },
    conditionError,
  };
}
