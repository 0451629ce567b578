// What a search ignores, in all of Unicode.
import { expect, test } from "vitest";
import { folded } from "../../shared/domain/words.ts";

test("the digits of every script are those of ASCII", () => {
  const digits = Array.from({ length: 0x110000 }, (_, code) => code)
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code))
    .filter((character) => /\p{Nd}/u.test(character));
  expect(digits.length).toBeGreaterThan(600);
  expect(digits.map(folded).join("")).toBe("0123456789".repeat(digits.length / 10));
});
