// The API matches the committed files: every change of it has to be deliberate.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { goldens, inThisFolder } from "./golden/golden.ts";

test.each(Object.entries(goldens))("%s matches the committed golden file", (name, made) => {
  expect(made(), `test/golden/${name} differs: if that is meant, run \`npm run golden\``).toBe(
    readFileSync(inThisFolder(name), "utf8"),
  );
});
