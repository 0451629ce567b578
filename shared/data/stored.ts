// The schema of what the service has stored itself: the types of a public schema without its rules for input. Those were checked when
// it came in; checking them at each read would be most of a list's CPU time, and a stricter rule would make old records unreadable.
import * as z from "zod";

const TEXT = z.string();
const NUMBER = z.number();
const TEXT_OR_NULL = TEXT.nullable();

export function stored<S extends z.ZodRawShape>({ shape }: z.ZodObject<S>): z.ZodObject<S> {
  const types = Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, typeOf(field)]));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each field has its own type, with fewer rules
  return z.object(types) as unknown as z.ZodObject<S>;
}

function typeOf(field: z.core.$ZodType): z.core.$ZodType {
  if (field instanceof z.ZodString || field instanceof z.ZodStringFormat) return TEXT;
  if (field instanceof z.ZodNumber) return NUMBER;
  if (field instanceof z.ZodNullable) {
    const type = typeOf(field.unwrap());
    return type === TEXT ? TEXT_OR_NULL : z.nullable(type);
  }
  return field;
}
