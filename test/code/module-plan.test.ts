// Which modules a deploy updates and installs.
import { expect, test } from "vitest";
import { nameWithSources, planModules } from "../../shared/domain/module-plan.ts";

const modules = [
  { name: "one", version: "1.0", changed: true },
  { name: "same", version: "1.0", changed: false },
  { name: "unused", version: "1.0", changed: true },
  { name: "wanted", version: "1.0", changed: true },
];
const installed = ["same", "one", "sale"];
const plan = (select: Parameters<typeof planModules>[1]["select"], install: string[] = ["wanted", "same"]) =>
  planModules({ modules, installed, image_changed: false }, { select, install });

test("updates what has changed and is installed, installs what is wanted and is not, and names what else has changed", () => {
  expect(plan("changed")).toEqual({ updated: ["one"], installed: ["wanted"], changed_but_not_installed: ["unused"] });
  expect(plan("changed", [])).toMatchObject({ installed: [], changed_but_not_installed: ["unused", "wanted"] });
});

test("updates all modules of the code, or those that were named, also one of the image, but none that is not installed", () => {
  expect(plan("all").updated).toEqual(["one", "same"]);
  expect(plan(["sale", "unused", "nowhere"]).updated).toEqual(["sale"]);
  expect(plan([]).updated).toEqual([]);
});

test("updates everything where the database was last updated with another image, as after a restore, unless modules were named", () => {
  const after = (select: Parameters<typeof planModules>[1]["select"]) =>
    planModules({ modules, installed, image_changed: true }, { select, install: [] }).updated;
  expect(after("changed")).toEqual(["base", "one"]);
  expect(after(["sale"])).toEqual(["sale"]);
});

test("modules are named with the repository that they are from, as far as it is known, and bounded", () => {
  const [acme, other] = ["https://git.example/acme", "https://git.example/other"];
  const sources = { prices: acme, stock: other, taxes: acme };
  expect(nameWithSources(["base", "prices", "stock", "taxes"], sources)).toBe(`base; prices, taxes (${acme}); stock (${other})`);
  expect(nameWithSources([], sources)).toBe("");
  const many = Array.from({ length: 100 }, (_, index) => `m${index}`);
  const long = Object.fromEntries(many.map((name) => [name, `https://git.example/${name.padEnd(450, "x")}`]));
  expect(nameWithSources(many, long).length).toBeLessThan(2000);
  expect(nameWithSources(many, {}).split(", ")).toHaveLength(20);
});
