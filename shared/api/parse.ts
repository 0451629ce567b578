// Parses external input, and reports its errors field by field.
import type * as z from "zod";
import { invalid, mustBeOneOf, type Problem, unknownField } from "./errors.ts";

/** Parses or throws the validation error. */
export function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const problems: Problem[] = [];
  const data = tryParse(schema, value, problems);
  requireNone(problems);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- where there is no problem, there is a value
  return data as z.output<S>;
}

/** Parses, or notes the problems. */
export function tryParse<S extends z.ZodType>(schema: S, value: unknown, problems: Problem[]): z.output<S> | undefined {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  problems.push(...result.error.issues.flatMap((issue) => listProblems(issue, value)));
  return undefined;
}

/** Throws the validation error that names every problem, if there is one; the first is that of `details.field`. */
export function requireNone([first, ...others]: readonly Problem[]): void {
  if (first !== undefined) throw invalid(first, ...others);
}

function listProblems(issue: z.core.$ZodIssue, value: unknown): Problem[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownField([...path, key].join(".")));
  return [{ field: path.join("."), reason: problemText(issue, value) }];
}

function problemText(issue: z.core.$ZodIssue, value: unknown): string {
  const input = valueAt(value, issue.path);
  if (input === undefined && issue.code !== "custom") return "is required";
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
