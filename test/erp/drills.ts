// Restore drills: of the archive as it is, beside people who write, and of one from which something was taken.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Operation } from "../../shared/api/operations.ts";
import { type BackedUp, type Chain } from "./context.ts";

/** A drill's time at most, as a multiple of a restore's. */
const DRILL_TIMES = 1.5;
/**
 * How much longer the ERP's writes may take beside a drill, where two processors do all of it, and for how long they are measured
 * alone.
 */
const SLOWER_MAX = 2;
const ALONE_MS = 8_000;

const percentile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN;

const secondsOf = ({ started_at, finished_at }: Operation): number =>
  (Date.parse(finished_at ?? "") - Date.parse(started_at ?? "")) / 1000;

export async function drills(
  { machine, service, client, guarantee, succeeds, survives, enter, downloaded }: Chain,
  { shop, password, backup }: BackedUp,
): Promise<void> {
  const drilled = async (operation: Promise<Operation>): Promise<Record<string, boolean | null>> => {
    const { result } = await operation;
    const checks = result?.drill?.checks ?? [];
    for (const { name, passed, detail } of checks) if (passed !== true) console.log(`  ${name}: ${detail}`);
    const names = machine.docker("ps", "-a", "--format", "{{.Names}}") + machine.docker("volume", "ls", "-q");
    assert(!names.includes("erp-drill"), names);
    assert(!existsSync(join(machine.root, "drill")));
    return Object.fromEntries(checks.map(({ name, passed }) => [name, passed]));
  };
  const drill = async (): Promise<string> => (await client.backups.drill({ params: { id: backup.id }, body: {} })).data.id;
  const good = { checksum: true, restores: true, boots: true, rows: true, files: true };

  await guarantee("a drill shows that the backup can be restored, while people write, and leaves nothing", async () => {
    const writer = await enter(shop, password);
    const writesDuring = async (work: () => Promise<unknown>): Promise<number[]> => {
      const took: number[] = [];
      const enough = new AbortController();
      const writes = (async () => {
        while (!enough.signal.aborted) {
          const began = performance.now();
          await writer.create("res.partner", { name: "During the drill" });
          took.push(performance.now() - began);
        }
      })();
      await work().finally(() => enough.abort());
      await writes;
      return took;
    };
    // The machine is as busy before as after.
    const before = await writesDuring(() => sleep(ALONE_MS));
    const beside = await writesDuring(async () => assert.deepEqual(await drilled(succeeds(await drill())), good));
    const alone = [...before, ...(await writesDuring(() => sleep(ALONE_MS)))];
    for (const [name, part] of [
      ["median", 0.5],
      ["95th percentile", 0.95],
    ] as const) {
      const [without, during] = [percentile(alone, part), percentile(beside, part)];
      console.log(
        `  ${name} of writes: ${without.toFixed(0)} ms without a drill, ${during.toFixed(0)} ms beside one: ${(during / without).toFixed(2)} times`,
      );
    }
    console.log(`  ${beside.length} writes succeeded beside the drill, the slowest took ${Math.max(...beside).toFixed(0)} ms`);
    const times = percentile(beside, 0.5) / percentile(alone, 0.5);
    assert(times <= SLOWER_MAX, `A write takes ${times.toFixed(2)} times as long beside a drill`);
  });
  /** The last drill's, with nothing beside it. */
  let drillSeconds = 0;
  await guarantee("a drill that is killed midway starts again", async () => {
    assert.deepEqual(await drilled(survives(await drill(), "drillArchive", 4)), good);
  });
  await guarantee("a drill names the table and the file that were taken from an archive", async () => {
    const folder = mkdtempSync(join(machine.root, "taken-"));
    const within = (command: string): string => execFileSync("bash", ["-c", command], { cwd: folder, encoding: "utf8" });
    const archive = await downloaded(backup.id);
    writeFileSync(join(folder, "archive.zip"), archive);
    within("unzip -q archive.zip && rm archive.zip");
    // The newest of the files is the one that was attached before the backup.
    within(`find filestore -type f -size +250k -print -quit | xargs rm && sed -i 's/^-- PostgreSQL database dump complete$/DROP TABLE public.ir_profile CASCADE;\\n&/' dump.sql && python3 -c "
import os, zipfile
with zipfile.ZipFile('archive.zip', 'w', zipfile.ZIP_DEFLATED) as archive:
  for place, _, names in os.walk('.'):
      for name in names:
          path = os.path.relpath(os.path.join(place, name), '.')
          if path != 'archive.zip':
              archive.write(path)
"`);
    const [key = ""] = (await service.stored()).filter((name) => name.includes(backup.id));
    await service.replace(key, readFileSync(join(folder, "archive.zip")));
    assert.deepEqual(await drilled(succeeds(await drill())), { ...good, rows: false, files: false });
    const { data } = await client.backups.get({ params: { id: backup.id } });
    assert.match(
      JSON.stringify(data.drill?.checks),
      /1 table differs: public\.ir_profile is missing[^]*1 of \d+ files are missing/,
    );
    await service.replace(key, archive);
    const last = await succeeds(await drill());
    assert.deepEqual(await drilled(Promise.resolve(last)), good);
    drillSeconds = secondsOf(last);
  });

  await guarantee(`a drill takes at most ${DRILL_TIMES} times as long as a restore of the same archive`, async () => {
    const { data } = await client.backups.restore({ params: { id: backup.id }, body: { backup_first: false } });
    const seconds = secondsOf(await succeeds(data.id));
    console.log(
      `  drill ${drillSeconds.toFixed(1)} s, restore ${seconds.toFixed(1)} s: ${(drillSeconds / seconds).toFixed(2)} times`,
    );
    assert(drillSeconds <= DRILL_TIMES * seconds);
  });
}
