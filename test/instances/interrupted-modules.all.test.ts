// What an instance says of modules whose installation was interrupted.
import { expect, test } from "vitest";
import { Instance } from "../../shared/api/instances.ts";
import { account } from "../harness/account.ts";
import { seedInstance } from "../harness/seed.ts";

test("an instance names ten interrupted modules, and counts the others apart from their names", async () => {
  const me = await account({ seeded: true });
  const reasonOf = async (count: number) => {
    const unfinished_modules = Array.from({ length: count }, (_, i) => `module_${i}`);
    const { id } = await seedInstance(me.id, { unfinished_modules });
    return (await me.api.get(`/instances/${id}`)).as(Instance);
  };
  const names = (count: number) => Array.from({ length: count }, (_, i) => `module_${i}`).join(", ");
  expect((await reasonOf(10)).reason).toEqual({ code: "modules_interrupted", parameters: { modules: names(10) } });
  const { reason, status_reason } = await reasonOf(13);
  expect(reason).toEqual({ code: "more_modules_interrupted", parameters: { modules: names(10), count: "3" } });
  expect(status_reason).toContain(`interrupted: ${names(10)} and 3 more.`);
});
