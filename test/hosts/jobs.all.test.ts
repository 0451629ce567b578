// Jobs on a machine: Docker that stops, retries of undos, results that a loss of power damaged.
import { spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Job } from "../../shared/hosts/host.ts";
import { ssh } from "../../shared/hosts/ssh.ts";
import { unless } from "../harness/unless.ts";
import { noMachine, processesWith, until } from "./machine.ts";
import { fact, failure, machine, note, readyInTime, restart, startHouse } from "./house.ts";

describe("jobs on a machine", unless(noMachine), () => {
  startHouse();

  test("a job waits for Docker", async () => {
    machine.docker("echo >> $NOTES/calls");
    writeFileSync(note("away"), "");
    const job = restart("op_wait-restartErp");
    await ssh.run(machine.server, job);
    await until("it looks for Docker", async () => !(await ssh.run(machine.server, job)).ready);
    expect(existsSync(note("calls"))).toBe(false);
    rmSync(note("away"));
    await readyInTime(job);
  });

  test("a job that failed because Docker stopped starts again when Docker is back", async () => {
    machine.docker('case "$*" in *"up -V -d") if [ ! -e $NOTES/was ]; then touch $NOTES/was $NOTES/away; exit 1; fi ;; esac');
    const job = restart("op_away-restartErp");
    await ssh.run(machine.server, job);
    await until("Docker goes away", () => existsSync(note("away")));
    // Docker stays away until the job has found that out: it would fail if Docker were back before.
    const alive = join(machine.root, "jobs", job.id, "alive");
    await until("the job ends", () => spawnSync("flock", ["-n", alive, "true"]).status === 0);
    rmSync(note("away"));
    await readyInTime(job);
    expect(existsSync(note("was"))).toBe(true);
  });

  test("every retry of an undo is its own job, runs once, and earlier ones can no longer start", async () => {
    machine.docker('case "$*" in *"up -V -d") echo >> $NOTES/calls; exit 1 ;; esac');
    const [one, two, three] = [1, 2, 3].map((number) => restart(`op_undo-startAgain-try${number}`));
    if (!one || !two || !three) throw new Error("There are three");
    await expect(failure(one)).resolves.toMatchObject({ name: "GiveUp", code: "HOST_JOB_FAILED" });
    await failure(two);
    await failure(two); // its outcome is stored, and it does not run again
    expect(readFileSync(note("calls"), "utf8").split("\n")).toHaveLength(3);
    machine.docker(":");
    await Promise.all([readyInTime(three), readyInTime(three)]);
    const folders = readdirSync(join(machine.root, "jobs")).filter((name) => name.startsWith("op_undo"));
    expect(folders).toEqual(["op_undo-startAgain-try3"]);
    await expect(ssh.run(machine.server, one)).rejects.toMatchObject({ name: "GiveUp" });
    await readyInTime(three);
  });

  test("a retry of an undo that is requested twice at once ends the earlier one once", async () => {
    machine.docker('case "$*" in *"up -V -d") exit 1 ;; esac');
    await failure(restart("op_twice-startAgain-try1"));
    machine.docker(":");
    const earlier = join(machine.root, "jobs", "op_twice-startAgain-try1");
    // One request has removed the result but not yet the folder; another one that finds no result gets to write its own after the
    // folder is gone.
    const during = (command: string): string => `for _ in {1..30}; do ${command} && break; sleep 0.1; done`;
    machine.standIn(
      "rm",
      `if [ "$*" = "-rf ${earlier}" ]; then /usr/bin/rm ${earlier}/result; ${during("[ -e $NOTES/second ]")}; fi; exec /usr/bin/rm "$@"`,
    );
    machine.standIn(
      "tail",
      `case "$*" in *${earlier}/log) touch $NOTES/second; ${during(`[ ! -e ${earlier} ]`)} ;; esac; exec /usr/bin/tail "$@"`,
    );
    const retry = restart("op_twice-startAgain-try2");
    await Promise.all([readyInTime(retry), readyInTime(retry)]);
    for (const name of ["rm", "tail"]) machine.standIn(name, `exec /usr/bin/${name} "$@"`);
    expect(existsSync(earlier)).toBe(false);
  });

  test("a job starts although another one removes the same old folders", async () => {
    machine.docker(":");
    const removed = 'echo "find: No such file or directory" >&2; exit 1';
    machine.standIn("find", `case "$*" in *"-exec rm -rf {} +" | *-delete) ${removed} ;; esac; exec /usr/bin/find "$@"`);
    await expect(readyInTime(restart("op_cleaned-restartErp"))).resolves.toBeUndefined();
    machine.standIn("find", 'exec /usr/bin/find "$@"');
  });

  test("of a log that a tenant's database floods, the beginning and the end are kept", async () => {
    machine.docker('case "$*" in *"up -V -d") echo first; yes "NOTICE: x" | head -c 20000000 >&2; echo last; exit 1 ;; esac');
    const job = restart("op_flooded-restartErp");
    await failure(job);
    const log = readFileSync(join(machine.root, "jobs", job.id, "log"), "utf8");
    expect(log.length).toBeLessThan(1_200_000);
    expect(log.slice(0, 100)).toContain("first\nNOTICE: x\n");
    expect(log.slice(-100)).toMatch(/NOTICE: x\nlast\n$/);
    const result = readFileSync(join(machine.root, "jobs", job.id, "result"), "utf8");
    expect(Buffer.from(/^log=(.*)$/m.exec(result)?.[1] ?? "", "base64").toString()).toMatch(/NOTICE: x\nlast\n?$/);
  });

  test("a machine with ERPs of another server, or of nobody, is rejected, and left alone when the creation is undone", async () => {
    machine.docker(":");
    machine.install("ins_precious", {});
    const precious = join(machine.root, "instances/ins_precious");
    let retirements = 0;
    const retire = (): Promise<void> => readyInTime({ id: `op_${(retirements += 1)}-retireHost`, kind: "retire_host" });
    for (const name of ["nft", "dpkg", "cloud-init"]) machine.standIn(name, "exit 0");
    for (const owner of ["another server", "nobody"]) {
      if (owner === "nobody") rmSync(join(machine.root, "server"));
      else writeFileSync(join(machine.root, "server"), "srv_other\n");
      const creation: Job<"prepare_host"> = { id: `op_${retirements}-prepareHost`, kind: "prepare_host", ssh_keys: [] };
      expect(String(await failure(creation)), owner).toContain("still has ERPs of another server");
      await retire();
      expect(existsSync(precious), owner).toBe(true);
    }
    writeFileSync(join(machine.root, "server"), "srv_test\n");
    await retire();
    expect(existsSync(precious)).toBe(false);
    machine.install("ins_1", {});
  });

  test("a job that ends while it is asked about does not run again", async () => {
    const job = restart("op_ended-restartErp");
    machine.docker('case "$*" in *"up -V -d") echo >> $NOTES/calls ;; esac');
    const ends = `echo -e 'state=done\\nanswer=bnVsbA==' > ${join(machine.root, "jobs", job.id, "result")}`;
    machine.standIn("flock", `if [ "$*" = "-n 9" ]; then ${ends}; fi; exec /usr/bin/flock "$@"`);
    await readyInTime(job);
    machine.standIn("flock", 'exec /usr/bin/flock "$@"');
    await until("it has ended", () => processesWith(`ERP_HOSTING_ROOT=${machine.root}`).length === 0);
    expect(existsSync(note("calls"))).toBe(false);
  });

  test("a result is on the disk before it counts, and an empty one, which a loss of power has left, is none", async () => {
    machine.docker('case "$*" in *"up -V -d") echo >> $NOTES/calls ;; esac');
    machine.standIn(
      "sync",
      'case $1 in */result.*) [ -s "$1" ] && [ ! -s "${1%.*}" ] && echo >> $NOTES/synced ;; esac; exec /usr/bin/sync "$@"',
    );
    const job = restart("op_power-restartErp");
    await readyInTime(job);
    const result = join(machine.root, "jobs", job.id, "result");
    expect(readFileSync(note("synced"), "utf8")).toBe("\n");
    writeFileSync(result, "");
    await readyInTime(job);
    expect(readFileSync(note("calls"), "utf8")).toBe("\n\n");
    expect(readFileSync(result, "utf8")).toContain("state=done");
    machine.standIn("sync", 'exec /usr/bin/sync "$@"');
  });

  test("the next operation's job removes what a restore left half finished, and its own jobs do not", async () => {
    machine.docker(":");
    const restores = fact("restores");
    mkdirSync(restores, { recursive: true });
    for (const state of ["building", "built"]) {
      writeFileSync(join(restores, "op_restore"), state);
      await readyInTime(restart(`op_restore-${state}`));
      expect(readdirSync(restores)).toEqual(["op_restore"]);
      await readyInTime(restart(`op_other-${state}`));
      expect(readdirSync(restores)).toEqual([]);
    }
    writeFileSync(join(restores, "op_restore"), "swapped");
    await readyInTime(restart("op_third-restartErp"));
    expect(readdirSync(restores), "what was replaced is kept until the next restore").toEqual(["op_restore"]);
    rmSync(join(restores, "op_restore"));
  });

  test("what a restore left and nobody can remove now does not stop other jobs, and goes when it can", async () => {
    machine.docker(":");
    const restores = fact("restores");
    const folder = join(machine.volume, "filestore/new_op_held");
    mkdirSync(folder, { recursive: true }); // root's, not the ERP's
    writeFileSync(join(folder, "file"), "");
    mkdirSync(restores, { recursive: true });
    writeFileSync(join(restores, "op_held"), "built");
    await readyInTime(restart("op_fourth-restartErp"));
    expect(readdirSync(restores)).toEqual(["op_held"]);
    chownSync(folder, 101, 101);
    await readyInTime(restart("op_fifth-restartErp"));
    expect(readdirSync(restores)).toEqual([]);
    expect(existsSync(folder)).toBe(false);
  });
});
