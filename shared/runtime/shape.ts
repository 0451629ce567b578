// Cuts a response to what its schema declares, so that no field of a record leaks. It checks no values: those from the table were
// parsed when they were read, the rest have their handler's type, and a second parse would be a third of a list's CPU time.
import * as z from "zod";

/** Copies the declared part of a value; undefined where the schema declares the whole value. */
type Cut = ((value: unknown) => unknown) | undefined;

/** Computed once for an endpoint. */
export function createShaper(schema: z.ZodType): (value: unknown) => unknown {
  return createCut(schema) ?? ((value) => value);
}

function createCut(schema: unknown): Cut {
  if (schema instanceof z.ZodObject) return cutObject(schema);
  if (schema instanceof z.ZodArray) {
    const cut = createCut(schema.element);
    return cut && ((value) => (Array.isArray(value) ? value.map((element) => cut(element)) : value));
  }
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return createCut(schema.unwrap());
  // One of them is an object at most; plain values pass it.
  if (schema instanceof z.ZodUnion) return createCut(schema.options.find((option) => option instanceof z.ZodObject));
  return undefined;
}

function cutObject({ shape }: z.ZodObject): Cut {
  const fields = Object.entries(shape).map(([name, field]) => ({ name, cut: createCut(field) }));
  return (value) => {
    if (typeof value !== "object" || value === null) return value;
    const declared: Record<string, unknown> = {};
    for (const { name, cut } of fields) {
      const field: unknown = Reflect.get(value, name);
      if (field !== undefined) declared[name] = cut === undefined ? field : cut(field);
    }
    return declared;
  };
}
