// Update and condition expressions from plain values, so that no caller writes an expression by hand.
import type { Item } from "./keys.ts";

export interface Expression {
  UpdateExpression?: string;
  ConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Item;
}

/** What must hold of an item for a write to it to be done. */
export interface Where {
  /** Default true: the item exists. With false it may be absent. */
  exists?: boolean;
  equals?: Item;
  oneOf?: Record<string, readonly unknown[]>;
  /**
   * Attributes as they were read: equal, or absent, because records from before the attribute existed have a default when they
   * are read.
   */
  unchanged?: Item;
  /** Attributes exactly as they were read; undefined: absent. */
  same?: Item;
  /**
   * Attribute below a number or a text, or below another attribute of the item (a number, if the item lacks that one). An absent
   * attribute counts as zero, and is below every text.
   */
  below?: Record<string, number | string | { attribute: string; otherwise: number }>;
  /** Attributes that must be absent, zero or false, such as an empty set, a count or a flag. */
  none?: readonly string[];
  /** Members that sets must have. */
  contains?: Item;
}

export interface Update {
  set?: Item;
  /** Set unless the item has the attribute. */
  fill?: Item;
  /** Added to a number (absent counts as zero), or to a set. */
  add?: Record<string, number | Set<string> | Set<Uint8Array>>;
  /** Taken out of a set. */
  take?: Record<string, Set<string> | Set<Uint8Array>>;
  remove?: readonly string[];
}

/** Aliases for names and values: every name gets one, because DynamoDB reserves hundreds of words. */
function aliases() {
  const names = new Map<string, string>();
  const values: Item = {};
  return {
    name: (attribute: string): string => {
      const alias = names.get(attribute) ?? `#${names.size}`;
      names.set(attribute, alias);
      return alias;
    },
    value: (value: unknown): string => {
      const alias = `:${Object.keys(values).length}`;
      values[alias] = value;
      return alias;
    },
    used: (): Expression => ({
      ...(names.size > 0 && { ExpressionAttributeNames: Object.fromEntries([...names].map(([name, alias]) => [alias, name])) }),
      ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
    }),
  };
}
type Aliases = ReturnType<typeof aliases>;

export function buildUpdate(update: Update, where: Where): Expression & { UpdateExpression: string } {
  const use = aliases();
  const set = terms(update.set, (name, value) => `${use.name(name)} = ${use.value(value)}`);
  const fill = terms(update.fill, (name, value) => `${use.name(name)} = if_not_exists(${use.name(name)}, ${use.value(value)})`);
  const UpdateExpression = [
    clause("SET", [...set, ...fill]),
    clause(
      "ADD",
      terms(update.add, (name, value) => `${use.name(name)} ${use.value(value)}`),
    ),
    clause(
      "DELETE",
      terms(update.take, (name, value) => `${use.name(name)} ${use.value(value)}`),
    ),
    clause("REMOVE", (update.remove ?? []).map(use.name)),
  ]
    .filter((part) => part !== "")
    .join(" ");
  return { UpdateExpression, ...conditionWith(use, where), ...use.used() };
}

export function buildCondition(where: Where): Expression {
  const use = aliases();
  return { ...conditionWith(use, where), ...use.used() };
}

function terms<T>(entries: Record<string, T> | undefined, term: (name: string, value: T) => string): string[] {
  const sent = Object.entries(entries ?? {}).filter(([, value]) => value !== undefined); // an optional field that was not sent
  return sent.map(([name, value]) => term(name, value));
}

const clause = (keyword: string, all: readonly string[]): string => (all.length > 0 ? `${keyword} ${all.join(", ")}` : "");

function conditionWith(use: Aliases, where: Where): Expression {
  const conditions = [
    ...((where.exists ?? true) ? ["attribute_exists(pk)"] : []),
    ...Object.entries(where.equals ?? {}).map(([name, value]) => `${use.name(name)} = ${use.value(value)}`),
    ...Object.entries(where.unchanged ?? {}).map(
      ([name, value]) => `(attribute_not_exists(${use.name(name)}) OR ${use.name(name)} = ${use.value(value)})`,
    ),
    ...Object.entries(where.same ?? {}).map(([name, value]) =>
      value === undefined ? `attribute_not_exists(${use.name(name)})` : `${use.name(name)} = ${use.value(value)}`,
    ),
    ...Object.entries(where.oneOf ?? {}).map(([name, values]) => `${use.name(name)} IN (${values.map(use.value).join(", ")})`),
    ...Object.entries(where.below ?? {}).map(([name, bound]) => {
      const attribute = use.name(name);
      if (typeof bound !== "object") {
        const isBelow = `${attribute} < ${use.value(bound)}`;
        return typeof bound === "number" && bound <= 0 ? isBelow : `(attribute_not_exists(${attribute}) OR ${isBelow})`;
      }
      const limit = use.name(bound.attribute);
      const without = `attribute_not_exists(${limit}) AND ${attribute} < ${use.value(bound.otherwise)}`;
      const absent = `attribute_not_exists(${attribute}) AND (attribute_not_exists(${limit}) OR ${limit} > ${use.value(0)})`;
      return `(${attribute} < ${limit} OR (${without}) OR (${absent}))`;
    }),
    ...Object.entries(where.contains ?? {}).map(([name, member]) => `contains(${use.name(name)}, ${use.value(member)})`),
    ...(where.none ?? []).map(
      (name) => `(attribute_not_exists(${use.name(name)}) OR ${use.name(name)} IN (${[0, false].map(use.value).join(", ")}))`,
    ),
  ];
  return conditions.length > 0 ? { ConditionExpression: conditions.join(" AND ") } : {};
}
