// How large DynamoDB takes an item to be, which is what reads and writes are billed by: names in UTF-8, a number half a byte a
// digit and one more, a list or a map three bytes and one an element. DynamoDB Local bills the same, but does not say how far it
// is to the next unit.

const WRITE_UNIT_BYTES = 1024;

export const writeUnits = (item: object): number => Math.ceil(itemBytes(item) / WRITE_UNIT_BYTES);

export const itemBytes = (item: object): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueBytes(value), 0);

function valueBytes(value: unknown): number {
  if (value === null || typeof value === "boolean") return 1;
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value === "number") return numberBytes(value);
  if (value instanceof Uint8Array) return value.byteLength;
  if (value instanceof Set) return [...value].reduce<number>((sum, member) => sum + valueBytes(member), 0);
  if (Array.isArray(value)) return value.reduce<number>((sum, element) => sum + 1 + valueBytes(element), 3);
  if (typeof value === "object") return itemBytes(value) + Object.keys(value).length + 3;
  throw new Error(`DynamoDB has no ${typeof value}`);
}

/** Trailing zeros are not stored; a negative number has a byte more. */
function numberBytes(value: number): number {
  const digits = String(Math.abs(value))
    .replace(".", "")
    .replace(/^0+|0+$/g, "").length;
  return Math.ceil(digits / 2) + 1 + (value < 0 ? 1 : 0);
}
