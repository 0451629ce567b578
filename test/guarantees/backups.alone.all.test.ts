// Damaged archives, under storage that reports the damage and storage that lies about it: an archive is rejected before anything
// is touched, or what it restores is what was backed up.
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { machineWithJobs } from "../hosts/jobs.ts";
import { noMachine } from "../hosts/machine.ts";
import { prove } from "./prove.ts";
import type { Random } from "./random.ts";

/** A way to damage an archive, given another archive of the same instance. */
const DAMAGES: Record<string, (bytes: Buffer, other: Buffer, random: Random) => Buffer> = {
  "cut at the end": (bytes, _, random) => bytes.subarray(0, bytes.length - 1 - random.below(40)),
  "cut anywhere": (bytes, _, random) => bytes.subarray(0, random.below(bytes.length)),
  "cut at the start": (bytes, _, random) => bytes.subarray(1 + random.below(200)),
  emptied: () => Buffer.alloc(0),
  zeroed: (bytes) => Buffer.alloc(bytes.length),
  swapped: (_, other) => other,
  doubled: (bytes) => Buffer.concat([bytes, bytes]),
  "followed by bytes": (bytes, _, random) => Buffer.concat([bytes, randomBytes(1 + random.below(100))]),
  "a block zeroed": (bytes, _, random) => {
    const at = random.below(bytes.length);
    return Buffer.from(bytes).fill(0, at, Math.min(bytes.length, at + 512));
  },
  ...Object.fromEntries(
    // One bit in each sixteenth of the file: headers, contents, the listing and its end.
    Array.from({ length: 16 }, (_, region) => [
      `a bit flipped in region ${region}`,
      (bytes: Buffer, _other: Buffer, random: Random) => {
        const at = Math.floor((bytes.length * region) / 16) + random.below(Math.ceil(bytes.length / 16));
        const changed = Buffer.from(bytes);
        changed[Math.min(at, bytes.length - 1)] = (bytes[Math.min(at, bytes.length - 1)] ?? 0) ^ (1 << random.below(8));
        return changed;
      },
    ]),
  ),
};
const STORAGES = ["storage that reports it", "storage that lies"] as const;

prove("backups", async () => {
  const points = Object.keys(DAMAGES).flatMap((damage) => STORAGES.map((storage) => `${damage}, ${storage}`));
  if (noMachine !== undefined) return { points, trial: async ({ counts }) => counts(0) };
  const jobs = await machineWithJobs();
  /** The last backups of an ERP: what each restores, and its archive. One is used for a round of all damages. */
  const backups: { contents: Record<string, string>; bytes: Uint8Array }[] = [];
  const contents = (): Record<string, string> =>
    Object.fromEntries(
      readdirSync(jobs.store("shop"), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name), "base64")]),
    );

  return {
    points,
    close: () => jobs.machine.stop(),
    trial: async ({ index, point, random }) => {
      const [damage = "", storage = ""] = point.split(", ");
      jobs.begin();
      try {
        mkdirSync(jobs.store("shop", "ab"), { recursive: true });
        writeFileSync(jobs.store("shop", "ab", "honest"), randomBytes(2_000));
        jobs.hostile(":");
        if (backups.length === 0 || index % points.length === 0)
          backups.unshift({ contents: contents(), bytes: (await jobs.backUp()).bytes });
        const [backup = expect.fail("There is no backup"), before] = backups;
        backups.splice(2);
        writeFileSync(jobs.store("shop", "present"), "changed since");
        writeFileSync(jobs.store("shop", "new"), "new since");
        jobs.hostile(":");
        const present = contents();
        const { bytes } = backup;
        const other = before?.bytes ?? Buffer.concat([bytes.subarray(0, 100), randomBytes(bytes.length)]);
        const damaged =
          DAMAGES[damage]?.(Buffer.from(bytes), Buffer.from(other), random) ?? expect.fail(`There is no damage ${damage}`);
        const lies = storage === "storage that lies";
        // Only as many bytes are read as the archive has: whatever follows them does no harm.
        const isWhole = !lies && damaged.subarray(0, bytes.length).equals(bytes);
        const archive = await jobs.stored(damaged, lies ? damaged : bytes);
        const isCorrupt = { code: "BACKUP_CORRUPT" };
        if (!lies && !isWhole) {
          await expect(jobs.verify(archive)).rejects.toMatchObject(isCorrupt);
          expect(contents()).toEqual(present);
        }
        // The machine remembers archives that it has found whole; they may be damaged afterwards.
        if (random.chance(0.5)) rmSync(join(jobs.machine.root, "archives"), { recursive: true, force: true });
        const restored = await jobs.restore(archive, { restore_database: true, restore_filestore: true }).then(
          () => true,
          (error: unknown) => {
            expect(error).toMatchObject(isCorrupt);
            return false;
          },
        );
        if (isWhole) expect(restored, "an archive that is followed by more is restored").toBe(true);
        // A swapped archive that is whole, under storage that lies, is an archive like any other.
        if (restored && damage === "swapped") return;
        expect(contents(), restored ? "what was restored" : "the present files").toEqual(restored ? backup.contents : present);
        jobs.expectUntouched();
      } finally {
        jobs.end();
      }
    },
  };
});
