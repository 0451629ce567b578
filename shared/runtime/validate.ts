// Parses external input, and reports its errors field by field.
import type * as z from "zod";
import { ApiError, invalid, mustBeOneOf, type Problem, unknownField } from "../api/errors.ts";

/** Parses or throws the validation error that names every problem; the first is the one of `details.field`. */
export function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [first, ...others] = result.error.issues.flatMap((issue) => problemsOf(issue, value));
  if (first === undefined) throw new ApiError("VALIDATION_ERROR");
  throw invalid(first, ...others);
}

function problemsOf(issue: z.core.$ZodIssue, value: unknown): Problem[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownField([...path, key].join(".")));
  return [{ field: path.join("."), reason: reasonOf(issue, value) }];
}

function reasonOf(issue: z.core.$ZodIssue, value: unknown): string {
  const given = valueAt(value, issue.path);
  if (given === undefined && issue.code !== "custom") return "is required";
  switch (issue.code) {
    case "invalid_type":
      return `must be ${TYPES[issue.expected] ?? `a ${issue.expected}`}`;
    case "invalid_value":
      return issue.message.startsWith("must") ? issue.message : mustBeOneOf(issue.values);
    case "invalid_key":
      return issue.issues[0]?.message ?? issue.message;
    default:
      return issue.message;
  }
}

/** The types whose names need another article, or another name. */
const TYPES: Readonly<Record<string, string>> = {
  array: "an array",
  object: "an object",
  record: "an object",
  int: "a whole number",
};

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );
