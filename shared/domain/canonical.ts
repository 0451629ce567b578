// One text for all ways to write the same JSON.

/** JSON with sorted keys: the order in which they are written makes no difference. */
export const canonical = (value: unknown): string => JSON.stringify(sorted(value));

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const names = Object.keys(value).toSorted();
  return Object.fromEntries(names.map((name) => [name, sorted(Reflect.get(value, name))]));
}
