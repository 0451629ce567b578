// How a cron expression's two fields of days, the day of the month and the weekday, decide together on which days it runs.

/**
 * `one`: at most one of the fields restricts the days. If both do, it runs on the days that match `both`, or on those that match
 * `either`.
 */
type Days = "one" | "both" | "either";

// The days are read as by Debian's cron: a day must match both fields if one of them begins with `*`, as `*/5` does, and either
// of them otherwise.
export function listDays(expression: string): Days {
  const [, , day = "*", , weekday = "*"] = expression.split(" ");
  if (day === "*" || weekday === "*") return "one";
  return day.startsWith("*") || weekday.startsWith("*") ? "both" : "either";
}
