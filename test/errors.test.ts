// What the service says to its clients when something fails is written once: in shared/api/errors.ts where an endpoint declares it.
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const SENTENCE = /"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g;
const WORDS_MIN = 4;

/** Every text of several words in the code, with the places where it stands. */
const sentences = Map.groupBy(
  globSync("{shared/{api,data,domain,runtime},functions}/**/*.ts").flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(SENTENCE)]
      .map(([, text, template]) => text ?? template?.replace(/\$\{[^}]*\}/g, "…") ?? "")
      .filter((text) => text.split(/ +/).length >= WORDS_MIN && /^[A-Z…a-z][^<>=]*$/.test(text))
      .map((text) => ({ text, file })),
  ),
  ({ text }) => text,
);

/** What endpoints say of themselves, and what people read of a step, may be alike; nothing that fails is. */
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
