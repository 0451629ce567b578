// Each stand-in for a part of a library makes a bundle smaller by more than it costs to have.
import { expect, inject, it } from "vitest";
import { bundledSizes, bundleFiles, ENTRIES } from "../../infra/bundle.ts";
import { STAND_INS } from "../../infra/bundle-stand-ins.ts";
import { scratch } from "./stubs.ts";

/** A function that would contain what is left out, where not all would. */
const IN_SOME: Readonly<Record<string, string>> = {
  "event streams of S3": "tasks.create-backup",
  "passphrases of SSH keys": "schedules.check-servers",
};
const WORTH_MIN = 8_000;

it.each(STAND_INS.map(({ name }) => name))("a stand-in for %s is worth it", async (name) => {
  const id = IN_SOME[name] ?? "auth.login";
  const otherStandIns = STAND_INS.filter((standIn) => standIn.name !== name);
  const [without, withLibrary] = await Promise.all([
    bundledSizes(inject("bundles")),
    bundleFiles(scratch(), [[id, ENTRIES[id] ?? ""]], { standIns: otherStandIns }),
  ]);
  expect((withLibrary[id] ?? 0) - (without[id] ?? 0)).toBeGreaterThan(WORTH_MIN);
});
