// The schema of what the service has stored itself: the types of a public schema without its rules for input. Those were checked
// when it came in; checking them at each read would be most of a list's CPU time, and a stricter rule would make old records
// unreadable.
//
// Values are read leniently, because a newer version may have stored them before a rollback, or beside this one during a
// deployment: a value of an enumeration is any text, and the fields inside a field are kept even if they are unknown. Tables that
// are looked up by an unknown value do not have it, so it is shown as it is, and allows nothing.
import * as z from "zod";

const TEXT = z.string();
const NUMBER = z.number();
const BOOLEAN = z.boolean();
const TEXT_OR_NULL = TEXT.nullable();

/** A value of an enumeration that may grow: its type is what this version knows, but any text is read. */
export const openEnum = <T extends string>(): z.ZodType<T, T> => z.custom<T>((value) => typeof value === "string");

export function stored<S extends z.ZodRawShape>({ shape }: z.ZodObject<S>): z.ZodObject<S> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each field has its own type, with fewer rules
  return z.object(widenShape(shape)) as unknown as z.ZodObject<S>;
}

const widenShape = (shape: Readonly<z.core.$ZodShape>): z.core.$ZodLooseShape =>
  Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, widenType(field)]));

function widenType(field: z.core.$ZodType): z.core.$ZodType {
  if (field instanceof z.ZodString || field instanceof z.ZodStringFormat || field instanceof z.ZodEnum) return TEXT;
  if (field instanceof z.ZodNumber) return NUMBER;
  if (field instanceof z.ZodBoolean) return BOOLEAN;
  if (field instanceof z.ZodObject) return z.looseObject(widenShape(field.shape));
  if (field instanceof z.ZodArray) return z.array(widenType(field.element));
  if (field instanceof z.ZodOptional) return z.optional(widenType(field.unwrap()));
  if (field instanceof z.ZodNullable) {
    const type = widenType(field.unwrap());
    return type === TEXT ? TEXT_OR_NULL : z.nullable(type);
  }
  return field;
}
