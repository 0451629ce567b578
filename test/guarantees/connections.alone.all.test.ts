// The connection to a machine is cut, slow, silent or loses a response while a job begins, runs or reports: the job is done, and
// its result is right.
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "vitest";
import { machineWithJobs } from "../hosts/jobs.ts";
import { DISTURBANCES, noMachine } from "../hosts/machine.ts";
import { isFullSize, prove } from "./prove.ts";

/** What a connection sends to begin a job: keys, sign-in, the script if the machine does not have it, and parameters. */
const BYTES = 12_000;

/** A silent one is noticed only after a quarter of a minute. */
const disturbances = DISTURBANCES.filter((disturbance) => isFullSize || disturbance !== "silent");
const places = disturbances.flatMap((disturbance) =>
  (["backup", "restore"] as const).map((job) => ({ label: `${disturbance}, ${job}`, disturbance, job })),
);

prove("connections", async () => {
  const points = places.map(({ label }) => label);
  if (noMachine !== undefined) return { points, trial: async ({ counts }) => counts(0) };
  const jobs = await machineWithJobs();
  const file = (): string => jobs.store("shop", "present");

  return {
    points,
    close: () => jobs.machine.stop(),
    trial: async ({ point, random }) => {
      const { disturbance, job } = places.find(({ label }) => label === point) ?? expect.fail(`There is no point ${point}`);
      const disturb = (): void => jobs.machine.disturb(disturbance, 1 + random.below(BYTES));
      jobs.begin();
      try {
        const honest = randomBytes(2_000);
        writeFileSync(file(), honest);
        jobs.hostile(":");
        if (job === "backup") disturb();
        const { files, archive } = await jobs.backUp();
        expect(Buffer.from(files["filestore/present"] ?? []).equals(honest), "what is in the archive").toBe(true);
        if (job === "backup") return;
        writeFileSync(file(), "changed since");
        jobs.hostile(":");
        disturb();
        await jobs.restore(archive, { restore_database: true, restore_filestore: true });
        expect(readFileSync(file()).equals(honest), "what was restored").toBe(true);
      } finally {
        jobs.end();
      }
    },
  };
});
