// The fields of a request that were sent, for records that keep the others.

/** The fields that have a value and of which `isWanted` is true. A field that was not sent is undefined. */
export function sentFields<T extends object>(
  fields: T,
  isWanted: (name: keyof T) => boolean = () => true,
): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `Object.keys` forgets whose names these are
  const names = (Object.keys(fields) as (keyof T)[]).filter((name) => fields[name] !== undefined && isWanted(name));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- entries lose which name has which type
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as ReturnType<typeof sentFields<T>>;
}
