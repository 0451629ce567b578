// What the texts of the API say of versions.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../infra/built.ts";
import { openapiDocument } from "../../shared/api/openapi/describe.ts";
import { POLICY_UNVERSIONED } from "../../shared/api/policy-shown.ts";

test.each([
  ["the description", openapiDocument("test").info.description],
  ["docs/api.md", readFileSync(join(ROOT, "docs/api.md"), "utf8")],
])("%s names each field of a policy that does not change its version", (_, text) => {
  const paragraph = text.split("\n\n").find((each) => each.includes("Fields that change on their own"));
  for (const field of POLICY_UNVERSIONED) expect(paragraph).toContain(`\`${field}\``);
});
