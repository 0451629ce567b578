// Each error message for clients is written once: in shared/api/errors.ts if an endpoint declares it.
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const SENTENCE = /"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g;
const WORDS_MIN = 4;

/** Every text of several words in the code, with its places. */
const sentences = Map.groupBy(
  globSync("{shared/{api,data,domain,runtime},functions}/**/*.ts").flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(SENTENCE)]
      .map(([, text, template]) => text ?? template?.replace(/\$\{[^}]*\}/g, "…") ?? "")
      .filter((text) => text.split(/ +/).length >= WORDS_MIN && /^[A-Z…a-z][^<>=]*$/.test(text))
      .map((text) => ({ text, file })),
  ),
  ({ text }) => text,
);

/** Endpoints' descriptions and steps' labels may be alike; error messages may not. */
const PROSE = /^(?:shared\/api\/(?!errors)|functions\/workflows\/[a-z-]+\/workflow\.ts)/;

test("no error message is written twice", () => {
  expect(sentences.size).toBeGreaterThan(100);
  const twice = [...sentences]
    .map(([text, places]) => ({ text, files: places.map(({ file }) => file) }))
    .filter(({ files }) => files.length > 1 && !files.every((file) => PROSE.test(file)));
  expect(twice.map(({ text, files }) => `${text}: ${files.join(", ")}`)).toEqual([]);
});

test("only shared/api/errors.ts builds an error that an endpoint declares", () => {
  const DECLARED = /new ApiError\(\s*"(?:CONFLICT|QUOTA_EXCEEDED|INVALID_STATE|OPERATION_IN_PROGRESS|RATE_LIMIT_EXCEEDED)"/;
  const builders = globSync("{shared,functions}/**/*.ts").filter((file) => DECLARED.test(readFileSync(file, "utf8")));
  expect(builders).toEqual(["shared/api/errors.ts"]);
});
