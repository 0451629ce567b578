// A deploy on a machine that fails, is killed or is abandoned: the code and the data come back together.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { unless } from "../harness/unless.ts";
import {
  code_id,
  databases,
  ERP,
  fact,
  fetchCode,
  here,
  installPackages,
  jobs,
  keepData,
  note,
  settleCode,
  startDeploys,
  undoCode,
  updateModules,
} from "./deploy.ts";
import { runToEnd } from "./jobs.ts";
import { noMachine } from "./machine.ts";

describe("a deploy", unless(noMachine), () => {
  startDeploys();

  const files = (database = "shop"): string[] => readdirSync(jobs.store(database)).toSorted();

  /** What the update does to the ERP's files. */
  const duringUpdate = (script: string): void =>
    writeFileSync(note("during-update"), `cd ${jobs.store("shop")} && ${script}; chown -R 101 ${jobs.machine.volume}`);

  test("an update that fails says so, and its undo puts back the database, the files and the code", async () => {
    await fetchCode();
    await installPackages();
    await keepData();
    const { [`old_${code_id}`]: keptDatabase } = databases();
    duringUpdate("rm present; echo new > added");
    writeFileSync(note("update-fails"), "");
    await expect(updateModules()).rejects.toMatchObject({
      code: "UPDATE_FAILED",
      message: expect.stringContaining("The update failed, so the code and the data were put back. Modules: acme"),
      log: expect.stringContaining("ValueError: no such field"),
    });
    expect(files()).toEqual(["added"]);
    expect(await undoCode()).toEqual({ downtime_seconds: expect.any(Number) });
    expect(databases()).toEqual({ shop: keptDatabase });
    expect(files()).toEqual(["present"]);
    expect([fact("code"), existsSync(here("codes", code_id)), existsSync(here("stopped_at"))]).toEqual(["", false, false]);
    await undoCode(); // once more
    expect(databases()).toEqual({ shop: keptDatabase });
  });

  test("an ERP that has stopped for a deploy runs again after its undo, also if nothing was kept yet", async () => {
    await fetchCode();
    await installPackages();
    writeFileSync(note("endless"), "");
    await expect(updateModules()).rejects.toMatchObject({
      message: expect.stringContaining("sessions in the database server do not end"),
    });
    rmSync(note("endless"));
    expect(await undoCode()).toEqual({ downtime_seconds: expect.any(Number) });
    expect([existsSync(note("starts")), existsSync(here("stopped_at"))]).toEqual([true, false]);
  });

  describe("of a database that has no room for a copy", () => {
    /** The disk of the databases is full, and that of the service's own files has so many free. */
    const disks = (free: number): void =>
      jobs.machine.standIn("df", `echo Avail; case "$*" in *instances*) echo ${free} ;; *) echo ${200 * 1024 ** 2} ;; esac`);
    beforeEach(async () => {
      await fetchCode();
      await installPackages();
      disks(1024 ** 3);
    });
    afterEach(() => jobs.machine.standIn("df", 'exec /usr/bin/df "$@"'));

    test("keeps an archive of it instead, from which the undo brings it back", async () => {
      writeFileSync(note("update-fails"), "");
      writeFileSync(note("during-update"), "echo shop 8 > $NOTES/databases");
      await expect(updateModules()).rejects.toMatchObject({ code: "UPDATE_FAILED" });
      expect(databases()).toEqual({ shop: "8" });
      await undoCode();
      expect(databases()).toEqual({ shop: "7" });
      expect(files()).toEqual(["present"]);
    });

    test("removes the archive once the ERP responds", async () => {
      await updateModules();
      expect(existsSync(here("codes", code_id, "database.tar.gz"))).toBe(true);
      await settleCode();
      expect(existsSync(here("codes", code_id, "database.tar.gz"))).toBe(false);
    });

    test("undoes an update that was killed, and what the ERP wrote after that stays if the undo is repeated", async () => {
      await updateModules();
      writeFileSync(here("codes", code_id, "progress"), "updating"); // as it is left by a machine without power
      await expect(updateModules()).rejects.toMatchObject({ code: "UPDATE_FAILED" });
      writeFileSync(note("databases"), "half 9\n");
      await undoCode();
      expect(databases()).toEqual({ shop: "7" });
      writeFileSync(note("databases"), "shop 10\n");
      await undoCode();
      expect(databases()).toEqual({ shop: "10" });
    });

    test("has the ERP run again if the archive does not get whole", async () => {
      writeFileSync(note("disk-full"), "");
      await expect(updateModules()).rejects.toMatchObject({
        code: "HOST_JOB_FAILED",
        message: expect.stringContaining("could not be kept as an archive"),
      });
      await undoCode();
      expect(databases()).toEqual({ shop: "7" });
      expect([existsSync(note("starts")), existsSync(here("stopped_at"))]).toEqual([true, false]);
    });

    test("does not stop the ERP if the archive has no room either, or a backup's data is to come back", async () => {
      for (const [step, free, text] of [
        [updateModules, 200 * 1024 ** 2, "An archive of the database needs"],
        [keepData, 1024 ** 3, "A copy of the database needs"],
      ] as const) {
        disks(free);
        await expect(step()).rejects.toMatchObject({ code: "HOST_JOB_FAILED", message: expect.stringContaining(text) });
        expect([existsSync(here("stopped_at")), fact(`codes/${code_id}/progress`)]).toEqual([false, "fetched"]);
      }
    });
  });

  test("an update that was killed begins anew with the data as it was kept", async () => {
    await fetchCode();
    await installPackages();
    await keepData();
    writeFileSync(here("codes", code_id, "progress"), "updating"); // as it is left by a machine without power
    jobs.hostile("cd filestore/shop && rm present && echo half > half");
    const { shop: half } = databases();
    await updateModules();
    expect(databases()["shop"]).not.toBe(half);
    expect(files()).toEqual(["present"]);
  });

  describe("whose data a backup has brought back", () => {
    /** Leaves the deploy as a machine does that lost its power during the update. */
    const killedDuringUpdate = async (): Promise<void> => {
      await fetchCode();
      await installPackages();
      await keepData();
      writeFileSync(here("restores", `${code_id}_data`), "swapped");
      writeFileSync(here("codes", code_id, "progress"), "updating");
    };

    test("keeps that data where its update was killed and there is nothing to update", async () => {
      await killedDuringUpdate();
      const { shop: restored } = databases();
      await jobs.run<"update_modules">({ kind: "update_modules", ...ERP, code_id, update: [], install: [] });
      expect(databases()["shop"]).toBe(restored);
      expect(fact(`codes/${code_id}/progress`)).toBe("updated");
    });

    test("fails where modules were being updated, instead of going on with the data from before it", async () => {
      await killedDuringUpdate();
      const { shop: restored, [`old_${code_id}`]: keptDatabase } = databases();
      await expect(updateModules()).rejects.toMatchObject({ code: "UPDATE_FAILED" });
      expect(databases()["shop"]).toBe(restored);
      await undoCode();
      expect(databases()).toEqual({ shop: keptDatabase });
    });

    test("counts as away from the stop before it until the ERP responds", async () => {
      const { archive } = await jobs.backUp();
      await fetchCode();
      await installPackages();
      await keepData();
      const restored = { restore_id: `${code_id}_data`, restore_database: true, restore_filestore: true, neutralize: false };
      const id = `${code_id}-restoreData`;
      await runToEnd(jobs.machine, { id, kind: "restore_archive", ...ERP, archive, ...restored });
      const plainly = { kind: "update_modules", ...ERP, code_id, update: [], install: [] } as const;
      expect((await jobs.run<"update_modules">(plainly)).downtime_seconds).toBeGreaterThanOrEqual(0);
      const over = { kind: "settle_code", ...ERP, code_id, restored: true } as const;
      expect(await jobs.run<"settle_code">(over)).toEqual({ neutralized: false });
    });

    test("starts the ERP only once everything is back, if it is undone in the middle of that restore", async () => {
      await fetchCode();
      await installPackages();
      await keepData();
      writeFileSync(here("restores", `${code_id}_data`), "built");
      const { [`old_${code_id}`]: keptDatabase } = databases();
      await undoCode();
      expect(databases()).toEqual({ shop: keptDatabase });
      expect(readFileSync(note("starts"), "utf8").trimEnd().split("\n")).toHaveLength(1);
    });
  });

  test("an undo before the ERP has stopped only removes the code", async () => {
    await fetchCode();
    await undoCode();
    expect(databases()).toEqual({ shop: "7" });
    expect(existsSync(here("codes", code_id))).toBe(false);
    expect(existsSync(note("updates"))).toBe(false);
  });

  test("a deploy that was abandoned in the middle is put back by the next job on the instance", async () => {
    await fetchCode();
    await installPackages();
    await keepData();
    const { [`old_${code_id}`]: keptDatabase } = databases();
    rmSync(here("stopped_at"), { force: true });
    await jobs.run<"start_erp">({ kind: "start_erp", ...ERP });
    expect(databases()).toEqual({ shop: keptDatabase });
    expect(existsSync(here("codes", code_id))).toBe(false);
  });
});
