// What users paste from README.md leaves the checkout as it is, whose every file `npm test` checks.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("lines to paste write files only into the folder that the checkout ignores", () => {
  const blocks = [...readFileSync("README.md", "utf8").matchAll(/^```bash\n(.*?)^```/gms)].map(([, lines = ""]) => lines);
  const written = blocks.flatMap((lines) => [...lines.matchAll(/^cat > (\S+)/gm)].map(([, path]) => path));
  expect(written).toHaveLength(1);
  for (const path of written) expect(path).toMatch(/^\.local\//);
});
