// One text for all ways to write the same JSON.

/** JSON with sorted keys: the order in which they are written makes no difference. */
export const canonical = (value: unknown): string => JSON.stringify(sorted(value));

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const copy: Record<string, unknown> = {}; // parsed JSON has no `__proto__`
  for (const name of Object.keys(value).toSorted()) copy[name] = sorted(Reflect.get(value, name));
  return copy;
}
