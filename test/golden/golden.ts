// The API as committed files, so that reviews see every change of it.
import { fileURLToPath } from "node:url";
import { type Route, routes } from "../../shared/api/index.ts";
import { openapi } from "../../shared/api/openapi.ts";

/** The path of a file beside this one. */
export const inThisFolder = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Each file and its expected content. The test environment has everything of the live one, and the sandbox. */
export const goldens: Record<string, () => string> = {
  "routes.txt": () =>
    columns(
      ["METHOD", "PATH", "FILE", "ACCESS", "RATE", "STATUS", "ONLY", "WORKFLOWS"],
      ...routes.map((route) => [
        route.method,
        route.path,
        route.entry,
        accessOf(route),
        route.rate,
        String(route.status),
        route.only ?? "-",
        route.starts.join(" ") || "-",
      ]),
    ),
  "openapi.json": () => `${JSON.stringify(openapi("test"), null, 2)}\n`,
};

function accessOf({ access, bodyPermission }: Route): string {
  if (bodyPermission === undefined) return Array.isArray(access) ? access.join(" ") : String(access);
  const values = Object.keys(bodyPermission.permissions);
  return Object.entries(Object.groupBy(values, (value) => bodyPermission.permissions[value] ?? ""))
    .map(([permission, of]) => `${permission}(${of?.join(",")})`)
    .join(" ");
}

function columns(...rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => `${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd()}\n`).join("");
}
