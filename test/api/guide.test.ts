// docs/api.md matches the code: it names every error, permission and filter, and nothing that does not exist.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ERRORS, OPERATION_ERRORS } from "../../shared/api/errors.ts";
import { routes } from "../../shared/api/index.ts";
import { ALL_PERMISSIONS } from "../../shared/api/permissions.ts";

const guide = readFileSync("docs/api.md", "utf8");

test("the guide lists every error of a request, with its status", () => {
  for (const [code, { status }] of Object.entries(ERRORS))
    expect(guide).toMatch(new RegExp(`\\| ${status} +\\| \`${code}\` +\\|`));
});

test.each([...OPERATION_ERRORS, ...ALL_PERMISSIONS])("the guide describes %s", (name) => {
  expect(guide).toContain(`| \`${name}\``);
});

test("every path that the guide calls exists in the API", () => {
  const asked = [...guide.matchAll(/\$API(\/[\w/$-]+)/g)].map(([, path = ""]) =>
    path.replaceAll(/\$\w*/g, ":id").replace(/\/$/, ""),
  );
  const known = routes.flatMap(({ path }) => [path, path.replace(/\/:id$/, "")]);
  expect(asked.length).toBeGreaterThan(10);
  for (const path of asked) expect(known, `${path} is a path`).toContain(path);
});
