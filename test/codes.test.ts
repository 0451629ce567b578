// Codes of stored values are never changed, and never used again: an item of any release means the same for ever.
import { expect, test } from "vitest";
import { ALL_PERMISSIONS } from "../shared/api/permissions.ts";
import { codeOfStatus, PERMISSION_BITS, STATUS_CODES, statusOfCode } from "../shared/data/codes.ts";
import { permissionsIn } from "../shared/data/permission-bits.ts";
import { INSTANCE_STATUSES, SERVER_STATUSES } from "../shared/domain/lifecycle.ts";
import { codes, knownCodes } from "./golden/golden.ts";

test("every code that was ever released means what it did", () => {
  expect(codes(), "a code was changed or removed: give the new value a new code").toMatchObject(knownCodes());
});

test("every code is in the committed list", () => {
  expect(knownCodes(), "a code is new: run `npm run golden`").toMatchObject(codes());
});

test("no two values of a table share a code", () => {
  const all = Object.entries({ ...codes(), ...knownCodes() });
  const used = all
    .map(([name, code]) => `${name.split(".", 1)[0]} ${String(code)}`)
    .filter((each) => !/^(?:list|stamp|reason) /.test(each));
  expect(used.toSorted()).toEqual([...new Set(used)].toSorted());
});

test("a status without a code is stored as its text, which is no other's code", () => {
  expect(codeOfStatus("hibernating")).toBe("hibernating");
  for (const status of [...SERVER_STATUSES, ...INSTANCE_STATUSES, "hibernating", "?"])
    expect(statusOfCode(codeOfStatus(status))).toBe(status);
  expect(Object.values(STATUS_CODES).filter((code) => code.length !== 1)).toEqual([]);
});

test("the numbers of tokens that were made with ten permissions, by their position, grant the same", () => {
  expect(permissionsIn(0)).toEqual([]);
  expect(permissionsIn(0b0001000100)).toEqual(["instances:read", "backups:write"]);
  expect(permissionsIn(0b1111111111)).toEqual(ALL_PERMISSIONS.filter((permission) => PERMISSION_BITS[permission] < 10));
});

test("a bit of a permission that this version does not know grants nothing", () => {
  const unused = [...Array(53).keys()].filter((bit) => !Object.values(PERMISSION_BITS).includes(bit));
  for (const bit of unused) {
    expect(permissionsIn(2 ** bit), String(bit)).toEqual([]);
    expect(permissionsIn(2 ** bit + 0b100), String(bit)).toEqual(["instances:read"]);
  }
});
