// The machine's own software: its reboot, its packages, its proxy and the instances' database servers, each with the way back.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { unless } from "../harness/unless.ts";
import { type MachineWithJobs, machineWithJobs } from "./jobs.ts";
import { noMachine, PAGES } from "./machine.ts";

/** Containers whose start fails once, if a test wants that. */
const DOCKER = `echo "$*" >> $NOTES/calls
case "$*" in
  *"pull -q"*) [ ! -e $NOTES/pull-fails ] || { echo "manifest unknown" >&2; exit 1; } ;;
  *erp-caddy*"up -d") [ ! -e $NOTES/proxy-fails ] || { rm $NOTES/proxy-fails; exit 1; } ;;
  *"up -d --no-deps buffer") [ ! -e $NOTES/buffer-fails ] || { rm $NOTES/buffer-fails; exit 1; } ;;
  *"up -d db") [ ! -e $NOTES/database-fails ] || { rm $NOTES/database-fails; exit 1; } ;;
esac`;
const [OLD, NEW] = ["a", "b"].map((letter) => `sha256:${letter.repeat(64)}`);

describe("a machine's own software", unless(noMachine), () => {
  let jobs: MachineWithJobs;
  let boot: string;
  beforeAll(async () => {
    jobs = await machineWithJobs();
    jobs.machine.standIn("nsenter", PAGES);
    jobs.machine.docker(DOCKER);
    boot = join(jobs.machine.root, "../system/proc/sys/kernel/random/boot_id");
    mkdirSync(dirname(boot), { recursive: true });
  });
  beforeEach(() => {
    jobs.begin();
    mkdirSync(join(jobs.machine.root, "caddy"), { recursive: true });
    writeFileSync(boot, "boot-1\n");
  });
  afterEach(() => jobs.end());
  afterAll(() => jobs.machine.stop());

  const note = (name: string): string => join(jobs.machine.notes, name);
  const notes = (name: string): string[] =>
    existsSync(note(name)) ? readFileSync(note(name), "utf8").trimEnd().split("\n") : [];
  const here = (name: string): string => join(jobs.machine.root, "instances/ins_1", name);
  const fact = (name: string): string => (existsSync(here(name)) ? readFileSync(here(name), "utf8") : "");

  describe("its reboot", () => {
    const reboot = () => jobs.run<"reboot_host">({ kind: "reboot_host" });

    test("ends when the machine is back and its ERPs respond, and is done once", async () => {
      // Everything that runs dies, and the machine has another boot ID.
      jobs.machine.standIn(
        "shutdown",
        `echo "$*" >> $NOTES/reboots; echo boot-2 > $ERP_HOSTING_SYSTEM/proc/sys/kernel/random/boot_id; kill -KILL 0`,
      );
      expect(await reboot()).toEqual({ downtime_seconds: expect.any(Number) });
      expect(notes("reboots")).toEqual(["-r now"]);
    });

    test("fails if the machine does not go down", async () => {
      jobs.machine.standIn("shutdown", "exit 1");
      await expect(reboot()).rejects.toMatchObject({
        code: "HOST_JOB_FAILED",
        message: expect.stringContaining("The machine does not reboot"),
      });
    });
  });

  describe("its packages", () => {
    const update = () => jobs.run<"update_host">({ kind: "update_host" });
    beforeAll(() => jobs.machine.standIn("apt-get", `echo "$*" >> $NOTES/apt; [[ ! -e $NOTES/apt-fails || "$*" != *upgrade ]]`));

    test("are updated, and configuration that somebody has changed stays", async () => {
      expect(await update()).toBeNull();
      const [update_lists, upgrade] = notes("apt");
      expect(update_lists).toMatch(/ update$/);
      expect(upgrade).toMatch(/--force-confold .*--with-new-pkgs upgrade$/);
    });

    test("that cannot be updated say so", async () => {
      writeFileSync(note("apt-fails"), "");
      await expect(update()).rejects.toMatchObject({
        message: expect.stringContaining("The system's packages could not be updated"),
      });
    });
  });

  describe("its proxy", () => {
    const update = () => jobs.run<"update_proxy">({ kind: "update_proxy" });
    /** The stand-in calls the image of every container "true". */
    const newest = (id: string): void => writeFileSync(note("images"), `echo ${id}`);
    const starts = () => notes("calls").filter((call) => call.includes("erp-caddy") && call.endsWith("up -d"));

    test("starts anew with a newer image, and only with one", async () => {
      newest("true");
      await update();
      expect(starts()).toEqual([]);
      newest("sha256:new");
      await update();
      expect(starts()).toHaveLength(1);
      expect(notes("calls").filter((call) => call.endsWith("pull -q nginx:1.28"))).toHaveLength(2);
      expect(notes("calls").filter((call) => call.startsWith("tag"))).toEqual([]);
    });

    test("stays as it is if there is no image, and says so", async () => {
      newest("true");
      writeFileSync(note("pull-fails"), "");
      await expect(update()).rejects.toMatchObject({
        message: expect.stringContaining("The image caddy:2 could not be pulled: the registry has no such image"),
      });
      expect(starts()).toEqual([]);
    });

    test("that does not start with it has its previous one again", async () => {
      newest("sha256:new");
      writeFileSync(note("proxy-fails"), "");
      await expect(update()).rejects.toMatchObject({
        message: expect.stringContaining("The proxy does not start with its newest image, so it has the previous one again"),
      });
      expect(notes("calls")).toContain("tag true caddy:2");
      expect(starts()).toHaveLength(2);
    });
  });

  describe("a database server", () => {
    const update = () => jobs.run<"update_database">({ kind: "update_database", instance_id: "ins_1" });
    beforeEach(() => {
      writeFileSync(here("image"), OLD ?? "");
      writeFileSync(here("db_image"), OLD ?? "");
      newest(16);
    });
    const newest = (major: number): void =>
      writeFileSync(
        note("images"),
        `case "$*" in
          *.Config.Env*) case "$*" in *${OLD}) echo PG_MAJOR=16 ;; *) echo PG_MAJOR=${major} ;; esac ;;
          *) echo ${NEW} ;;
        esac`,
      );

    test("keeps the present one if there is no image, and says so", async () => {
      writeFileSync(note("pull-fails"), "");
      await expect(update()).rejects.toMatchObject({ message: expect.stringContaining("could not be pulled") });
      expect([fact("db_image"), fact("db_before")]).toEqual([OLD, ""]);
    });

    test("gets the newest image of its major version, and the ERP responds again", async () => {
      expect(await update()).toEqual({ downtime_seconds: expect.any(Number) });
      expect([fact("db_image"), fact("image"), fact("db_before"), fact("stopped_at")]).toEqual([NEW, OLD, "", ""]);
      expect(fact("compose.yaml")).toContain(`image: "${NEW}"`);
      expect(await update()).toEqual({ downtime_seconds: null });
    });

    describe("whose buffer", () => {
      const starts = () => notes("calls").filter((call) => call.endsWith("up -d --no-deps buffer"));
      beforeEach(() => {
        mkdirSync(here("buffer"), { recursive: true });
        writeFileSync(here("buffer/nginx.conf"), "");
        writeFileSync(
          note("images"),
          `case "$*" in *nginx*) echo ${NEW} ;; *.Config.Env*) echo PG_MAJOR=16 ;; *) echo ${OLD} ;; esac`,
        );
      });

      test("has an older image gets the newest one, and the ERP runs on", async () => {
        expect(await update()).toEqual({ downtime_seconds: null });
        expect(starts()).toHaveLength(1);
        expect(notes("calls").filter((call) => call.startsWith("tag"))).toEqual([]);
      });

      test("does not start with it has its previous one again", async () => {
        writeFileSync(note("buffer-fails"), "");
        await expect(update()).rejects.toMatchObject({
          message: expect.stringContaining("The proxy does not start with its newest image, so it has the previous one again"),
        });
        expect(notes("calls")).toContain("tag true nginx:1.28");
        expect(starts()).toHaveLength(2);
      });
    });

    test("of another major version is never taken", async () => {
      newest(17);
      expect(await update()).toEqual({ downtime_seconds: null });
      expect(fact("db_image")).toBe(OLD);
    });

    test("of a stopped ERP gets it with its next start", async () => {
      writeFileSync(here("wanted"), "stopped");
      expect(await update()).toEqual({ downtime_seconds: null });
      expect([fact("db_image"), fact("db_before")]).toEqual([NEW, ""]);
      expect(notes("calls").filter((call) => call.endsWith("up -d db"))).toEqual([]);
    });

    test("that does not start with it has its previous one again, and so has the ERP", async () => {
      writeFileSync(note("database-fails"), "");
      await expect(update()).rejects.toMatchObject({
        message: expect.stringContaining(
          "The ERP does not respond with the newest image of its database server, so it has the previous one again",
        ),
      });
      expect([fact("db_image"), fact("db_before")]).toEqual([OLD, ""]);
      expect(fact("compose.yaml")).toContain(`image: "${OLD}"`);
    });

    test.each(["put_database_back", "restart_erp"] as const)("whose update was abandoned gets it back with %s", async (kind) => {
      writeFileSync(here("db_before"), OLD ?? "");
      writeFileSync(here("db_image"), NEW ?? "");
      await jobs.run({ kind, instance_id: "ins_1" });
      expect([fact("db_image"), fact("db_before")]).toEqual([OLD, ""]);
    });
  });
});
