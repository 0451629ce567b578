// Codes of authenticator apps, and recovery codes.
import { expect, test } from "vitest";
import { hashRecoveryCode, newRecoveryCode } from "../../shared/domain/recovery-codes.ts";
import { matchingStep, stepAt, toBase32, totpCode } from "../../shared/platform/totp.ts";

/** That of RFC 4226 and RFC 6238. */
const SECRET = Buffer.from("12345678901234567890");

test.each([
  [0, "755224"],
  [1, "287082"],
  [2, "359152"],
  [9, "520489"],
])("the code of step %i is that of RFC 4226", (step, code) => {
  expect(totpCode(SECRET, step)).toBe(code);
});

test.each([
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_234_567_890, "005924"],
  [20_000_000_000, "353130"],
])("the code at second %i is that of RFC 6238", (second, code) => {
  expect(totpCode(SECRET, stepAt(second * 1000))).toBe(code);
});

test("a code is accepted one step early and one late, and no earlier or later", () => {
  const at = 1_000 * 30_000;
  const accepted = [998, 999, 1000, 1001, 1002].map((step) => matchingStep(SECRET, totpCode(SECRET, step), at));
  expect(accepted).toEqual([undefined, 999, 1000, 1001, undefined]);
  for (const code of ["", "12345", `${totpCode(SECRET, 1000)}0`, ` ${totpCode(SECRET, 1000)}`])
    expect(matchingStep(SECRET, code, at), code).toBeUndefined();
});

test("a secret is written as apps read it", () => {
  expect(toBase32(SECRET)).toBe("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
  expect(toBase32(Buffer.from("foo"))).toBe("MZXW6");
});

test("a recovery code is the same however it is typed, and another user's is another", () => {
  const code = newRecoveryCode();
  expect(code).toMatch(/^(?:[0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
  const typed = code.toUpperCase().replaceAll("-", " ").replaceAll("0", "O").replaceAll("1", "L");
  expect(hashRecoveryCode("usr_1", typed)).toBe(hashRecoveryCode("usr_1", code));
  expect(hashRecoveryCode("usr_2", code)).not.toBe(hashRecoveryCode("usr_1", code));
  expect(new Set(Array.from({ length: 100 }, newRecoveryCode)).size).toBe(100);
});
