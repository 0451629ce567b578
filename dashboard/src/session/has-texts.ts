// Whether a value that may be anything is an object with these texts. By hand, because a library of schemas would be a sixth of a
// page.
export function hasTexts<Name extends string>(value: unknown, ...names: Name[]): value is Record<Name, string> {
  return typeof value === "object" && value !== null && names.every((name) => typeof Reflect.get(value, name) === "string");
}
