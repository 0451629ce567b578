// Times and days in the addresses of pages, in a zone of the browser, without a browser.
import { join } from "node:path";
import { beforeAll, expect, test, vi } from "vitest";
import * as z from "zod";
import { ROOT } from "../infra/built.ts";

const Callable = z.custom<(text: string) => unknown>((value) => typeof value === "function");
const Moments = z.object({
  addressOfDay: Callable,
  addressOfField: Callable,
  fieldOfAddress: Callable,
  rangeOfAddress: Callable,
});

const importOf = async (file: string): Promise<object> => import(file);

let moments: z.output<typeof Moments>;
beforeAll(async () => {
  process.env["TZ"] = "Africa/Cairo"; // where clocks go forward at midnight
  vi.stubGlobal("window", new EventTarget());
  vi.stubGlobal("localStorage", { getItem: () => null });
  // Its messages have elements in them, which are not the tests' to compile.
  moments = Moments.parse({ ...(await importOf(join(ROOT, "dashboard/src/resource/words/moment.ts"))) });
});

test.each([
  ["2026-04-23", "2026-04-23T00:00+02:00", "2026-04-22T22:00:00.000Z", "2026-04-23T22:00:00.000Z"],
  ["2026-04-24", "2026-04-24T00:00+02:00", "2026-04-23T22:00:00.000Z", "2026-04-24T21:00:00.000Z"],
  ["2026-04-25", "2026-04-25T00:00+03:00", "2026-04-24T21:00:00.000Z", "2026-04-25T21:00:00.000Z"],
])("the day %s begins when the day before ends, also where clocks change at midnight", (day, address, from, to) => {
  expect(moments.addressOfDay(day)).toBe(address);
  expect(moments.rangeOfAddress(address)).toEqual({ from, to });
});

test("a time stays what the user types, at each digit of its year", () => {
  for (const year of ["0002", "0020", "0202", "2026"]) {
    const typed = `${year}-11-20T22:00`;
    expect(moments.fieldOfAddress(String(moments.addressOfField(typed)))).toBe(typed);
  }
  expect(moments.addressOfField("2026-11-20T22:00")).toBe("2026-11-20T20:00Z");
  expect(moments.addressOfField("")).toBe("");
  expect(moments.fieldOfAddress("2026-11-20T22:00")).toBe("2026-11-20T22:00"); // of an earlier version
});
