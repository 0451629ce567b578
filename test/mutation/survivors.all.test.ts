// The explained survivors of mutation runs: each quotes code that there still is.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../infra/built.ts";
import { survivors } from "./survivors.ts";

const withoutSpaces = (text: string): string => text.replaceAll(/\s/g, "");

test("every explained survivor quotes code of its file", () => {
  const stale = survivors.filter(
    ({ file, code }) => !withoutSpaces(readFileSync(join(ROOT, file), "utf8")).includes(withoutSpaces(code)),
  );
  expect(stale.map(({ file, code }) => `${file}: ${code}`)).toEqual([]);
});
