// docs/api.md matches the code: it describes every permission, and names no path that does not exist. Its tables are goldens.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { routes } from "../../shared/api/index.ts";
import { ALL_PERMISSIONS } from "../../shared/api/permissions.ts";

const guide = readFileSync("docs/api.md", "utf8");

test.each(ALL_PERMISSIONS)("the guide describes %s", (name) => {
  expect(guide).toContain(`| \`${name}\``);
});

test("every path that the guide calls exists in the API", () => {
  const paths = [...guide.matchAll(/\$API(\/[\w/$-]+)/g)].map(([, path = ""]) =>
    path.replaceAll(/\$\w*/g, ":id").replace(/\/$/, ""),
  );
  const routePaths = routes.flatMap(({ path }) => [path, path.replace(/\/:id$/, "")]);
  expect(paths.length).toBeGreaterThan(10);
  for (const path of paths) expect(routePaths, `${path} is a path`).toContain(path);
});
