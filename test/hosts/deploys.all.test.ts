// A deploy on a machine, with a server that has databases: the code and the data change together, and come back together.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ssh } from "../../shared/hosts/ssh.ts";
import { unless } from "../harness/unless.ts";
import { type MachineWithJobs, machineWithJobs, runToEnd } from "./jobs.ts";
import { noMachine, PAGES, until } from "./machine.ts";

const HASH = "a".repeat(40);
const CODE = {
  subjects: ["Prices"],
  problems: [],
  folders: ["1-acme"],
  modules: [{ name: "acme", version: "19.0.1.0", hash: HASH, repository: 0 }],
  known_hosts: ["git.example.com ssh-ed25519 AAAA"],
};
const ACME = { name: "acme", version: "19.0.1.0", changed: true, database_version: null, repository: 0 };
const OLD_IMAGE = "0".repeat(64);
const REPOSITORY = { url: "https://git.example.com/acme", ref: "main", path: null, commit: "1".repeat(40) };

/** The builder, and an ERP that updates its modules, or fails after it has changed some of its data. */
const DOCKER = `case "$*" in
  *"--entrypoint sh "*pip*)
    echo "$*" >> $NOTES/builds
    cat >> $NOTES/requirements
    [ ! -e $NOTES/build-fails ] || { echo "No matching distribution" >&2; exit 1; }
    if [ -e $NOTES/endless-build ]; then exec cat /dev/zero; fi
    tar -c -C $NOTES/built . ;;
  *"--entrypoint sh "*"tar -cS ."*) [ ! -e $NOTES/disk-full ] && tar -c -C $NOTES databases ;;
  *"--entrypoint sh "*"-delete && tar -x"*) tar -x -C $NOTES ;;
  *"du -sk"*) echo "64 ." ;; # kilobytes
  *"--entrypoint tar "*) tar -x -C $NOTES/installed ;;
  *"-builder "*python3* | *"-check "*python3*)
    cat > $NOTES/request
    [ ! -e $NOTES/endless-repository ] || sleep 600
    cat $NOTES/code ;;
  *"--entrypoint cp "*)
    echo "$*" >> $NOTES/copies
    [ ! -e $NOTES/during-copy ] || bash $NOTES/during-copy ;;
  "network inspect erp-builder") [ ! -e $NOTES/no-network ] ;;
  "network create"*"erp-builder") sleep 1; rm $NOTES/no-network ;;
  "image ls"*) cat $NOTES/unused 2> /dev/null ;;
  "image rm"*) echo "$*" >> $NOTES/removed-images ;;
  *"pull -q odoo@"*) echo "$*" >> $NOTES/pulls && [ ! -e $NOTES/registry ] || touch $NOTES/pulled ;;
  "volume rm"*) echo "$*" >> $NOTES/removed-volumes ;;
  compose*erp-ins_1*" up -V -d") echo "$*" >> $NOTES/starts ;;
  *"--entrypoint odoo"*)
    echo "$*" >> $NOTES/updates
    [ ! -e $NOTES/during-update ] || bash $NOTES/during-update
    [ ! -e $NOTES/update-fails ] || { echo "ValueError: no such field"; exit 1; } ;;
esac`;

describe("a deploy", unless(noMachine), () => {
  let jobs: MachineWithJobs;
  let code_id: string;
  beforeAll(async () => {
    jobs = await machineWithJobs();
    jobs.machine.standIn("nsenter", PAGES);
    jobs.machine.docker(DOCKER);
  });
  beforeEach(() => {
    jobs.begin();
    code_id = `op_deploy_${randomBytes(4).toString("hex")}`;
    writeFileSync(note("databases"), "shop 7\n");
    writeFileSync(note("code"), JSON.stringify(CODE));
  });
  afterEach(() => jobs.end());
  afterAll(() => jobs.machine.stop());

  const note = (name: string): string => join(jobs.machine.notes, name);
  const here = (...path: string[]): string => join(jobs.machine.root, "instances/ins_1", ...path);
  const fact = (name: string): string => (existsSync(here(name)) ? readFileSync(here(name), "utf8") : "");
  const databases = (): Record<string, string> =>
    Object.fromEntries(
      readFileSync(note("databases"), "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => line.split(" ")),
    );
  const files = (database = "shop"): string[] => readdirSync(jobs.store(database)).toSorted();
  const of = { instance_id: "ins_1" };
  const fetch = (token = "very-secret", value = "also-secret $HOME") =>
    jobs.run<"fetch_code">({
      kind: "fetch_code",
      ...of,
      code_id,
      repositories: [{ ...REPOSITORY, credential: { username: "deploy", token } }],
      environment: [{ name: "CARRIER_KEY", value }],
      named_modules: ["acme"],
      keep: true,
    });
  const plan = { update: ["acme"], install: [] };
  const keep = () => jobs.run<"keep_data">({ kind: "keep_data", ...of, code_id });
  const update = () => jobs.run<"update_modules">({ kind: "update_modules", ...of, code_id, ...plan });
  const settle = () => jobs.run<"settle_code">({ kind: "settle_code", ...of, code_id, restored: false });
  const undo = () => jobs.run<"undo_code">({ kind: "undo_code", ...of, code_id, start: true });
  const packages = () =>
    jobs.run<"install_packages">({ kind: "install_packages", ...of, code_id, packages: [], allow_source_builds: false });
  /** What the update does to the ERP's files. */
  const duringUpdate = (script: string): void =>
    writeFileSync(note("during-update"), `cd ${jobs.store("shop")} && ${script}; chown -R 101 ${jobs.machine.volume}`);

  test("fetches with credentials on stdin alone, and keeps what the ERP needs of the code for root alone", async () => {
    expect(await fetch()).toEqual({
      subjects: ["Prices"],
      problems: [],
      modules: [ACME],
      installed: [],
      image_changed: false,
      compared_with: null,
      missing: [],
    });
    expect(readFileSync(note("request"), "utf8")).toMatch(/"token":"very-secret"/);
    expect(fact(`codes/${code_id}/addons`)).toBe("/mnt/extra-addons/1-acme");
    expect(fact("known_hosts")).toBe("git.example.com ssh-ed25519 AAAA\n");
    const log = execFileSync("bash", ["-c", `cat ${jobs.machine.root}/jobs/*fetch_code/log`], { encoding: "utf8" });
    expect(log).not.toMatch(/very-secret|also-secret/);
  });

  test("what the builder says is believed only as far as it looks like code", async () => {
    const odd = { name: "x'; drop table y", version: "1.0", hash: HASH };
    writeFileSync(note("code"), JSON.stringify({ ...CODE, folders: ["../../etc", "1-acme"], modules: [...CODE.modules, odd] }));
    await expect(fetch()).rejects.toMatchObject({ code: "HOST_JOB_FAILED" });
    expect(fact(`codes/${code_id}/addons`)).toBe("/mnt/extra-addons/1-acme");
    expect(fact(`codes/${code_id}/modules`)).not.toMatch(/drop table/);
  });

  test("packages are built in a scratch of a fixed size, and what is too large for it gets no further", async () => {
    const install = () =>
      jobs.run<"install_packages">({
        kind: "install_packages",
        ...of,
        code_id,
        packages: ["num2words>=0.5", "xlrd==2.0.1"],
        allow_source_builds: true,
      });
    for (const folder of ["built", "installed"]) mkdirSync(note(folder));
    writeFileSync(note("built/num2words.py"), "ONE = 1");
    await fetch();
    await install();
    expect(readFileSync(note("installed/num2words.py"), "utf8")).toBe("ONE = 1");
    expect(readFileSync(note("requirements"), "utf8")).toBe("num2words>=0.5\nxlrd==2.0.1\n");
    const build = readFileSync(note("builds"), "utf8");
    expect(build).toContain("--tmpfs /tmp:size=512m,nr_inodes=200k");
    expect(build).not.toMatch(/ -v | --mount /);
    writeFileSync(note("endless-build"), "");
    await expect(install()).rejects.toMatchObject({ code: "BUILD_FAILED" });
    writeFileSync(note("build-fails"), "");
    await expect(install()).rejects.toMatchObject({
      code: "BUILD_FAILED",
      log: expect.stringContaining("No matching distribution"),
    });
  });

  test("switches the code, updates the modules, and starts the ERP with both", async () => {
    await fetch();
    await packages();
    await keep();
    expect(Object.keys(databases()).toSorted()).toEqual([`old_${code_id}`, "shop"]);
    const { downtime_seconds } = await update();
    expect(readFileSync(note("updates"), "utf8")).toMatch(
      /-d shop -u acme --stop-after-init .*--addons-path=\/mnt\/extra-addons\/1-acme/,
    );
    expect(fact("code")).toBe(code_id);
    expect(downtime_seconds).toBeGreaterThanOrEqual(0);
    const compose = fact("compose.yaml");
    expect(compose).toContain(`"code:/mnt/extra-addons:ro", "python:/mnt/python:ro"`);
    expect(compose).toContain(`code: { name: erp-ins_1_code_${code_id}, external: true }`);
    expect(compose).toContain(`"CARRIER_KEY": "also-secret $$HOME"`); // YAML takes names such as NO and TRUE for no texts
    expect(compose).toContain("--addons-path=/mnt/extra-addons/1-acme");
    await settle();
    expect(databases()).toEqual({ shop: "7" });
    expect(fact("code")).toBe(code_id);
    expect(existsSync(jobs.store(`old_${code_id}`))).toBe(false);
  });

  test("an update that fails says so, and its undo puts back the database, the files and the code", async () => {
    await fetch();
    await packages();
    await keep();
    const { [`old_${code_id}`]: keptDatabase } = databases();
    duringUpdate("rm present; echo new > added");
    writeFileSync(note("update-fails"), "");
    await expect(update()).rejects.toMatchObject({
      code: "UPDATE_FAILED",
      message: expect.stringContaining("The update failed, so the code and the data were put back. Modules: acme"),
      log: expect.stringContaining("ValueError: no such field"),
    });
    expect(files()).toEqual(["added"]);
    expect(await undo()).toEqual({ downtime_seconds: expect.any(Number) });
    expect(databases()).toEqual({ shop: keptDatabase });
    expect(files()).toEqual(["present"]);
    expect([fact("code"), existsSync(here("codes", code_id)), existsSync(here("stopped_at"))]).toEqual(["", false, false]);
    await undo(); // once more
    expect(databases()).toEqual({ shop: keptDatabase });
  });

  test("the database remembers what each module was last updated with, also if others were named", async () => {
    const [before, now] = ["b".repeat(40), "c".repeat(40)];
    const modules = ["acme", "other", "fresh"].map((name) => ({ name, version: "19.0.1.0", hash: now }));
    writeFileSync(note("code"), JSON.stringify({ ...CODE, modules }));
    writeFileSync(note("installed"), `["acme", "19.0.1.0"]\n["other", "19.0.2.0"]\n`);
    writeFileSync(note("hashes"), JSON.stringify({ acme: before, other: before, gone: before, "(image)": OLD_IMAGE }));
    expect(await fetch()).toMatchObject({
      modules: [{ database_version: "19.0.1.0" }, { database_version: "19.0.2.0" }, { database_version: null }],
      installed: ["acme", "other"],
      image_changed: true,
    });
    await packages();
    await keep();
    await update(); // of acme alone
    const noted = /\('hosting\.module_hashes', '([^']*)'\) on conflict \(key\) do update/.exec(
      readFileSync(note("asked"), "utf8"),
    )?.[1];
    expect(JSON.parse(noted ?? "")).toEqual({ acme: now, other: before, fresh: now, "(image)": OLD_IMAGE });
  });

  test("names installed modules that the ERP would lose, but none that it lacks already or that its image has", async () => {
    const modules = ["acme", "other", "sale", "unused"].map((name) => ({ name, version: "19.0.1.0", hash: HASH }));
    writeFileSync(note("code"), JSON.stringify({ ...CODE, modules }));
    const installed = ["acme", "gone", "other", "sale"].map((name) => JSON.stringify([name, "19.0.1.0"]));
    writeFileSync(note("installed"), installed.join("\n"));
    const ofImage = join(jobs.machine.root, "modules");
    mkdirSync(ofImage, { recursive: true });
    writeFileSync(join(ofImage, "image"), JSON.stringify({ base: "19.0.1.3", sale: "19.0.1.2" }));
    expect(await fetch()).toMatchObject({ missing: [] });
    await packages();
    await keep();
    await update();
    await settle();
    code_id += "_next";
    writeFileSync(note("code"), JSON.stringify(CODE));
    expect(await fetch()).toMatchObject({ missing: ["other"] });
    rmSync(ofImage, { recursive: true });
  });

  test("one job keeps the data, updates the modules and starts the ERP, and goes on where it was killed", async () => {
    await fetch();
    await packages();
    expect((await update()).downtime_seconds).toBeGreaterThanOrEqual(0);
    expect(databases()).toEqual({ shop: expect.any(String), [`old_${code_id}`]: expect.any(String) });
    rmSync(note("starts"));
    rmSync(note("updates"));
    await update(); // as after a machine that lost its power while the ERP started
    expect([existsSync(note("starts")), existsSync(note("updates"))]).toEqual([true, false]);
    await settle();
  });

  test("an ERP that has stopped for a deploy runs again after its undo, also if nothing was kept yet", async () => {
    await fetch();
    await packages();
    writeFileSync(note("endless"), "");
    await expect(update()).rejects.toMatchObject({
      message: expect.stringContaining("sessions in the database server do not end"),
    });
    rmSync(note("endless"));
    expect(await undo()).toEqual({ downtime_seconds: expect.any(Number) });
    expect([existsSync(note("starts")), existsSync(here("stopped_at"))]).toEqual([true, false]);
  });

  describe("of a database that has no room for a copy", () => {
    /** The disk of the databases is full, and that of the service's own files has so many free. */
    const disks = (free: number): void =>
      jobs.machine.standIn("df", `echo Avail; case "$*" in *instances*) echo ${free} ;; *) echo ${200 * 1024 ** 2} ;; esac`);
    beforeEach(async () => {
      await fetch();
      await packages();
      disks(1024 ** 3);
    });
    afterEach(() => jobs.machine.standIn("df", 'exec /usr/bin/df "$@"'));

    test("keeps an archive of it instead, from which the undo brings it back", async () => {
      writeFileSync(note("update-fails"), "");
      writeFileSync(note("during-update"), "echo shop 8 > $NOTES/databases");
      await expect(update()).rejects.toMatchObject({ code: "UPDATE_FAILED" });
      expect(databases()).toEqual({ shop: "8" });
      await undo();
      expect(databases()).toEqual({ shop: "7" });
      expect(files()).toEqual(["present"]);
    });

    test("removes the archive once the ERP responds", async () => {
      await update();
      expect(existsSync(here("codes", code_id, "database.tar.gz"))).toBe(true);
      await settle();
      expect(existsSync(here("codes", code_id, "database.tar.gz"))).toBe(false);
    });

    test("undoes an update that was killed, and what the ERP wrote after that stays if the undo is repeated", async () => {
      await update();
      writeFileSync(here("codes", code_id, "progress"), "updating"); // as it is left by a machine without power
      await expect(update()).rejects.toMatchObject({ code: "UPDATE_FAILED" });
      writeFileSync(note("databases"), "half 9\n");
      await undo();
      expect(databases()).toEqual({ shop: "7" });
      writeFileSync(note("databases"), "shop 10\n");
      await undo();
      expect(databases()).toEqual({ shop: "10" });
    });

    test("has the ERP run again if the archive does not get whole", async () => {
      writeFileSync(note("disk-full"), "");
      await expect(update()).rejects.toMatchObject({
        code: "HOST_JOB_FAILED",
        message: expect.stringContaining("could not be kept as an archive"),
      });
      await undo();
      expect(databases()).toEqual({ shop: "7" });
      expect([existsSync(note("starts")), existsSync(here("stopped_at"))]).toEqual([true, false]);
    });

    test("does not stop the ERP if the archive has no room either, or a backup's data is to come back", async () => {
      for (const [step, free, text] of [
        [update, 200 * 1024 ** 2, "An archive of the database needs"],
        [keep, 1024 ** 3, "A copy of the database needs"],
      ] as const) {
        disks(free);
        await expect(step()).rejects.toMatchObject({ code: "HOST_JOB_FAILED", message: expect.stringContaining(text) });
        expect([existsSync(here("stopped_at")), fact(`codes/${code_id}/progress`)]).toEqual([false, "fetched"]);
      }
    });
  });

  test("an update that was killed begins anew with the data as it was kept", async () => {
    await fetch();
    await packages();
    await keep();
    writeFileSync(here("codes", code_id, "progress"), "updating"); // as it is left by a machine without power
    jobs.hostile("cd filestore/shop && rm present && echo half > half");
    const { shop: half } = databases();
    await update();
    expect(databases()["shop"]).not.toBe(half);
    expect(files()).toEqual(["present"]);
  });

  describe("whose data a backup has brought back", () => {
    /** Leaves the deploy as a machine does that lost its power during the update. */
    const killedDuringUpdate = async (): Promise<void> => {
      await fetch();
      await packages();
      await keep();
      writeFileSync(here("restores", `${code_id}_data`), "swapped");
      writeFileSync(here("codes", code_id, "progress"), "updating");
    };

    test("keeps that data where its update was killed and there is nothing to update", async () => {
      await killedDuringUpdate();
      const { shop: restored } = databases();
      await jobs.run<"update_modules">({ kind: "update_modules", ...of, code_id, update: [], install: [] });
      expect(databases()["shop"]).toBe(restored);
      expect(fact(`codes/${code_id}/progress`)).toBe("updated");
    });

    test("fails where modules were being updated, instead of going on with the data from before it", async () => {
      await killedDuringUpdate();
      const { shop: restored, [`old_${code_id}`]: keptDatabase } = databases();
      await expect(update()).rejects.toMatchObject({ code: "UPDATE_FAILED" });
      expect(databases()["shop"]).toBe(restored);
      await undo();
      expect(databases()).toEqual({ shop: keptDatabase });
    });

    test("counts as away from the stop before it until the ERP responds", async () => {
      const { archive } = await jobs.backUp();
      await fetch();
      await packages();
      await keep();
      const restored = { restore_id: `${code_id}_data`, restore_database: true, restore_filestore: true, neutralize: false };
      const id = `${code_id}-restoreData`;
      await runToEnd(jobs.machine, { id, kind: "restore_archive", ...of, archive, ...restored });
      const plainly = { kind: "update_modules", ...of, code_id, update: [], install: [] } as const;
      expect((await jobs.run<"update_modules">(plainly)).downtime_seconds).toBeGreaterThanOrEqual(0);
      const over = { kind: "settle_code", ...of, code_id, restored: true } as const;
      expect(await jobs.run<"settle_code">(over)).toEqual({ neutralized: false });
    });

    test("starts the ERP only once everything is back, if it is undone in the middle of that restore", async () => {
      await fetch();
      await packages();
      await keep();
      writeFileSync(here("restores", `${code_id}_data`), "built");
      const { [`old_${code_id}`]: keptDatabase } = databases();
      await undo();
      expect(databases()).toEqual({ shop: keptDatabase });
      expect(readFileSync(note("starts"), "utf8").trimEnd().split("\n")).toHaveLength(1);
    });
  });

  test("a rehearsal updates a copy without network, files or scheduled jobs, and leaves the ERP as it is", async () => {
    await fetch();
    await packages();
    const rehearse = () => jobs.run<"rehearse_code">({ kind: "rehearse_code", ...of, code_id, ...plan });
    expect((await rehearse()).duration_seconds).toBeGreaterThanOrEqual(0);
    const [ran = ""] = readFileSync(note("updates"), "utf8").split("\n");
    expect(ran).toMatch(/--name erp-drill .*--network container:erp-drill-db .*-d drill -u acme --stop-after-init/);
    expect(ran).toContain("--max-cron-threads=0");
    writeFileSync(note("update-fails"), "");
    await expect(rehearse()).rejects.toMatchObject({
      code: "REHEARSAL_FAILED",
      message: expect.stringContaining("so the ERP was left as it is. Modules: acme"),
    });
    expect([fact("code"), existsSync(here("stopped_at")), existsSync(join(jobs.machine.root, "drill"))]).toEqual([
      "",
      false,
      false,
    ]);
  });

  test("without an update, a rehearsal starts the ERP with the new code, and says if it does not start", async () => {
    await fetch();
    await packages();
    const job = { kind: "rehearse_code", ...of, code_id, update: [], install: [] } as const;
    await jobs.run<"rehearse_code">(job);
    const [ran = ""] = readFileSync(note("updates"), "utf8").split("\n");
    expect(ran).toMatch(/--name erp-drill .*-d drill --stop-after-init/);
    writeFileSync(note("update-fails"), "");
    await expect(jobs.run<"rehearse_code">(job)).rejects.toMatchObject({
      code: "REHEARSAL_FAILED",
      message: expect.stringContaining("The ERP did not start with the new code on a copy of the data"),
    });
  });

  test("a rehearsal whose database server is ended for want of memory says so", async () => {
    await fetch();
    await packages();
    writeFileSync(note("sql-error"), "psql:/in:3: server closed the connection unexpectedly\n");
    writeFileSync(note("sql-status"), "2");
    writeFileSync(note("killed"), "erp-drill-db\n");
    await expect(jobs.run<"rehearse_code">({ kind: "rehearse_code", ...of, code_id, ...plan })).rejects.toMatchObject({
      code: "HOST_JOB_FAILED",
      message: expect.stringContaining("The throwaway database server ran out of memory"),
    });
  });

  test("a rehearsal for which there is no room says how to deploy without one", async () => {
    await fetch();
    await packages();
    jobs.machine.standIn("df", `echo Avail; echo ${200 * 1024 * 1024}`);
    const rehearsed = jobs.run<"rehearse_code">({ kind: "rehearse_code", ...of, code_id, ...plan });
    await expect(rehearsed.finally(() => jobs.machine.standIn("df", 'exec /usr/bin/df "$@"'))).rejects.toMatchObject({
      code: "HOST_JOB_FAILED",
      message: expect.stringMatching(/but the server has 200 MB free\. To deploy all the same, set rehearse to false/),
    });
  });

  const check = {
    kind: "fetch_code",
    ...of,
    repositories: [{ ...REPOSITORY, credential: null }],
    code_id: "op_check",
    environment: [],
    named_modules: [],
    keep: false,
  } as const;
  test("a check beside a deploy changes nothing of it, and keeps nothing", async () => {
    await fetch();
    await packages();
    await keep();
    const before = [databases(), fact(`codes/${code_id}/progress`)];
    const checked = await jobs.run<"fetch_code">(check);
    expect(checked).toMatchObject({ modules: [ACME], compared_with: "" });
    expect([databases(), fact(`codes/${code_id}/progress`)]).toEqual(before);
    expect(readdirSync(here("codes"))).toEqual([code_id]);
    await update();
    await undo();
  });

  test("a check compares with the code that the ERP has", async () => {
    await bring("op_before", undefined);
    const modules = [...CODE.modules, { name: "prices", version: "19.0.1.0", hash: HASH, repository: 0 }];
    writeFileSync(note("code"), JSON.stringify({ ...CODE, modules }));
    expect(await jobs.run<"fetch_code">(check)).toMatchObject({
      modules: [
        { name: "acme", changed: false },
        { name: "prices", changed: true },
      ],
      compared_with: "op_before",
    });
    writeFileSync(here("codes/op_before/modules"), ""); // as a machine that lost its power may leave it
    expect(await jobs.run<"fetch_code">(check)).toMatchObject({ compared_with: null });
  });

  test("from its first start on, the database remembers the image, unless it already does", async () => {
    rmSync(note("asked"), { force: true });
    await jobs.run<"start_erp">({ kind: "start_erp", ...of });
    const noted = /\('hosting\.module_hashes', '([^']*)'\)\s+on conflict \(key\) do nothing/.exec(
      readFileSync(note("asked"), "utf8"),
    );
    expect(JSON.parse(noted?.[1] ?? "")).toEqual({ "(image)": fact("image").replace(/^sha256:/, "") });
  });

  test("two first checks at once make the builder's network once", async () => {
    writeFileSync(note("no-network"), "");
    writeFileSync(note("code"), JSON.stringify({ commits: [], known_hosts: [] }));
    const resolve = () => jobs.run<"resolve_code">({ kind: "resolve_code", ...of, repositories: [], hold: false });
    expect(await Promise.all([resolve(), resolve()])).toEqual([{ commits: [] }, { commits: [] }]);
  });

  test("a host's key is forgotten once no repository of it is left, by whatever looks up all of them", async () => {
    writeFileSync(note("code"), JSON.stringify({ ...CODE, commits: [], known_hosts: [] }));
    const [key, of22, other] = ["git.example.com ssh-ed25519 AAAA", "[old.example]:2222 ssh-ed25519 BBBB", "x.example ssh-rsa C"];
    writeFileSync(here("known_hosts"), `${key}\n${of22}\n${other}\n`);
    await jobs.run<"fetch_code">({ ...check, repositories: [] });
    expect(fact("known_hosts")).toBe(`${key}\n${of22}\n${other}\n`);
    const at = (url: string) => ({ url, ref: "main", path: null, credential: null });
    const resolve = (urls: string[], trust_new_host_keys = false) =>
      jobs.run<"resolve_code">({ kind: "resolve_code", ...of, repositories: urls.map(at), hold: false, trust_new_host_keys });
    await resolve(["ssh://git@git.example.com/acme", "https://x.example/acme", "ssh://git@old.example:2222/acme"]);
    expect(fact("known_hosts")).toBe(`${key}\n${of22}\n`);
    await resolve(["ssh://git@git.example.com/acme"], true);
    expect(fact("known_hosts")).toBe("");
    writeFileSync(here("known_hosts"), `${key}\n`);
    await resolve([]);
    expect(fact("known_hosts")).toBe("");
  });

  const removedVolumes = (): string[] => readFileSync(note("removed-volumes"), "utf8").trimEnd().split("\n");

  test("a check leaves nothing on the disk if it fails", async () => {
    writeFileSync(note("code"), "no JSON");
    await expect(jobs.run<"fetch_code">(check)).rejects.toMatchObject({ code: "HOST_JOB_FAILED" });
    expect(removedVolumes()).toEqual(Array.from({ length: 2 }, () => "volume rm -f erp-ins_1_check"));
  });

  test("a check that is ended does not go on in its container, which no job on the instance ends", async () => {
    writeFileSync(note("endless-repository"), "");
    const id = `op_${code_id}-inspectCode`;
    await ssh.run(jobs.machine.server, { ...check, id });
    await until("the builder runs", () => existsSync(note("request")));
    rmSync(note("removed-volumes"), { force: true });
    await jobs.run<"start_erp">({ kind: "start_erp", ...of, ends: [id] });
    // The job itself may have ended it, too.
    expect(new Set(removedVolumes())).toEqual(new Set(["volume rm -f erp-ins_1_check"]));
  });

  const bring = (to: string, from: { instance_id: string; code_id: string } | undefined) =>
    jobs.run<"bring_code">({
      kind: "bring_code",
      ...of,
      code_id: to,
      code: {
        repositories: [{ ...REPOSITORY, credential: { username: "deploy", token: "very-secret" } }],
        packages: [],
        allow_source_builds: false,
        environment: [{ name: "CARRIER_URL", value: "https://carrier.example" }],
        from,
      },
    });

  test("the code of a backup is fetched, or copied where the machine has it, and the ERP runs with it", async () => {
    await bring("op_fetched", { instance_id: "ins_other", code_id: "op_gone" });
    expect(readFileSync(note("request"), "utf8")).toContain(`"commit":"${REPOSITORY.commit}"`);
    expect([fact("code"), fact("codes/op_fetched/addons")]).toEqual(["op_fetched", "/mnt/extra-addons/1-acme"]);
    rmSync(note("request"));
    await bring("op_copied", { instance_id: "ins_1", code_id: "op_fetched" });
    expect(existsSync(note("request"))).toBe(false);
    const copies = readFileSync(note("copies"), "utf8");
    for (const part of ["code", "python"])
      expect(copies).toContain(`-v erp-ins_1_${part}_op_fetched:/from:ro -v erp-ins_1_${part}_op_copied:/to --entrypoint cp`);
    expect(copies).toMatch(/--network none --cap-drop ALL .*--user 65534:65534/);
    expect(fact("codes/op_copied/modules")).toBe(fact("codes/op_fetched/modules"));
    await jobs.run<"start_erp">({ kind: "start_erp", ...of });
    expect(fact("compose.yaml")).toContain("code: { name: erp-ins_1_code_op_copied, external: true }");
    expect(fact("compose.yaml")).toContain(`"CARRIER_URL": "https://carrier.example"`);
  });

  test("code that is copied keeps its Python packages, as long as they are the same and for the same image", async () => {
    const from = { instance_id: "ins_1", code_id };
    const install = (to: string, list: string[]) =>
      jobs.run<"install_packages">({ kind: "install_packages", ...of, code_id: to, packages: list, allow_source_builds: false });
    const copied = async (to: string) => {
      await jobs.run<"fetch_code">({ ...check, code_id: to, keep: true, from });
      rmSync(note("builds"), { force: true });
    };
    mkdirSync(note("built"), { recursive: true });
    mkdirSync(note("installed"), { recursive: true });
    const listed = "printf '%s\\n' num2words==0.5.13 docopt==0.6.2";
    writeFileSync(note("before-files"), `case "$*" in *" list --path /python "*) ${listed} ;; esac`);
    await fetch();
    expect(await install(code_id, ["num2words>=0.5"])).toEqual({ packages: ["num2words==0.5.13", "docopt==0.6.2"] });
    expect(existsSync(note("builds"))).toBe(true);
    rmSync(here(`codes/${code_id}/progress`)); // it is no deploy in progress
    await copied("op_back");
    expect(await install("op_back", ["num2words==0.5.13", "docopt==0.6.2"])).toEqual({
      packages: ["num2words==0.5.13", "docopt==0.6.2"],
    });
    expect(existsSync(note("builds"))).toBe(false);
    await copied("op_other");
    await install("op_other", ["num2words==0.5.13"]);
    expect(existsSync(note("builds"))).toBe(true);
    await copied("op_image");
    writeFileSync(here("codes/op_image/image"), `sha256:${"7".repeat(64)}`);
    await install("op_image", ["num2words==0.5.13", "docopt==0.6.2"]);
    expect(existsSync(note("builds"))).toBe(true);
  });

  test("code that is removed while it is copied is fetched", async () => {
    await bring("op_fetched", undefined);
    rmSync(note("request"));
    writeFileSync(note("during-copy"), `rm -f ${here("codes/op_fetched/environment")}`);
    await bring("op_copied", { instance_id: "ins_1", code_id: "op_fetched" });
    expect(existsSync(note("request"))).toBe(true);
  });

  test("code that cannot be had any more is an error with the repository's problem", async () => {
    const problem = `The repository ${REPOSITORY.url} has no module`;
    const problems = [{ code: "CODE_INVALID", repository: 0, module: null, problem }];
    writeFileSync(note("code"), JSON.stringify({ ...CODE, problems, folders: [], modules: [] }));
    await expect(bring("op_invalid", undefined)).rejects.toMatchObject({
      code: "CODE_INVALID",
      message: expect.stringContaining(problem),
    });
    expect(fact("code")).toBe("");
    const moved = `The repository ${REPOSITORY.url} does not exist, or what it is read with may not read it`;
    const unreachable = [{ code: "CODE_UNREACHABLE", repository: 0, module: null, problem: moved }];
    writeFileSync(note("code"), JSON.stringify({ ...CODE, problems: unreachable, folders: [], modules: [] }));
    await expect(bring("op_unreachable", undefined)).rejects.toMatchObject({ code: "CODE_UNREACHABLE" });
  });

  test("an archive names the code that the ERP has, with a hash of each module", async () => {
    const code = { repositories: [REPOSITORY], python_packages: ["num2words==0.5.13"] };
    await bring("op_fetched", undefined);
    const { files: archived } = await jobs.backUp(code);
    const manifest = JSON.parse(new TextDecoder().decode(archived["manifest.json"])) as unknown;
    expect(manifest).toMatchObject({ code: { ...code, modules: { acme: HASH } } });
    const without = await jobs.backUp();
    expect(JSON.parse(new TextDecoder().decode(without.files["manifest.json"]))).not.toHaveProperty("code");
  });

  const OLD = { erp: `sha256:${"1".repeat(64)}`, database: `sha256:${"2".repeat(64)}` };
  const NEW = { erp: `sha256:${"3".repeat(64)}`, database: `sha256:${"4".repeat(64)}` };
  /** What Docker says of the images: by their ids as well as by their names, which are the newest. */
  const images = (newestMajor = 16): void =>
    writeFileSync(
      note("images"),
      `case "$*" in
        *.Created*) echo 2026-11-20T03:00:00.5Z ;;
        *.Config.Env*) case "$*" in *${OLD.database}) echo PG_MAJOR=16 ;; *) echo PG_MAJOR=${newestMajor} ;; esac ;;
        *odoo:*) echo ${NEW.erp} ;;
        *) echo ${NEW.database} ;;
      esac`,
    );
  const pull = (image?: { id: string; digest: string | null }) =>
    jobs.run<"pull_images">({ kind: "pull_images", ...of, code_id, image });
  const installedWith = (): void => {
    writeFileSync(here("image"), OLD.erp);
    writeFileSync(here("db_image"), OLD.database);
  };

  test("new images are used from the rehearsal on, and the instance gets them with the update", async () => {
    installedWith();
    images();
    await fetch();
    const pulled = { id: NEW.erp, created_at: "2026-11-20T03:00:00.500Z", previous_id: OLD.erp, changed: true, modules: null };
    expect(await pull()).toEqual(pulled);
    await packages();
    expect([fact("image"), fact("db_image")]).toEqual([OLD.erp, OLD.database]);
    await jobs.run<"rehearse_code">({ kind: "rehearse_code", ...of, code_id, ...plan });
    await keep();
    await update();
    for (const ran of readFileSync(note("updates"), "utf8").trimEnd().split("\n")) expect(ran).toContain(NEW.erp);
    expect(fact("compose.yaml")).toContain(`image: "${NEW.erp}"`);
    expect(fact("compose.yaml")).toContain(`image: "${NEW.database}"`);
    await settle();
    expect([fact("image"), fact("db_image")]).toEqual([NEW.erp, NEW.database]);
  });

  test("an update that fails puts the images back, too", async () => {
    installedWith();
    images();
    await fetch();
    await pull();
    await packages();
    await keep();
    writeFileSync(note("update-fails"), "");
    await expect(update()).rejects.toMatchObject({ code: "UPDATE_FAILED" });
    expect(fact("image")).toBe(NEW.erp);
    await undo();
    expect([fact("image"), fact("db_image")]).toEqual([OLD.erp, OLD.database]);
    expect(fact("compose.yaml")).toContain(`image: "${OLD.erp}"`);
    expect(fact("compose.yaml")).toContain(`image: "${OLD.database}"`);
  });

  test("the images that an undo needs stay, whichever job removes unused ones meanwhile, until the deploy is over", async () => {
    installedWith();
    images();
    await fetch();
    await pull();
    await packages();
    await keep();
    await update();
    writeFileSync(note("unused"), `${OLD.erp}\n${OLD.database}\n`);
    const removeUnused = () => jobs.run<"update_proxy">({ kind: "update_proxy" });
    await removeUnused();
    expect(existsSync(note("removed-images"))).toBe(false);
    await settle();
    await removeUnused();
    expect(readFileSync(note("removed-images"), "utf8")).toBe(`image rm ${OLD.erp}\nimage rm ${OLD.database}\n`);
  });

  test("code that the machine still has is not fetched again", async () => {
    await fetch();
    await packages();
    await keep();
    await update();
    await settle();
    const first = code_id;
    rmSync(note("request"));
    code_id = `op_deploy_${randomBytes(4).toString("hex")}`;
    const again = (from: string) =>
      jobs.run<"fetch_code">({
        kind: "fetch_code",
        ...of,
        code_id,
        repositories: [{ ...REPOSITORY, credential: null }],
        environment: [],
        named_modules: [],
        keep: true,
        from: { instance_id: "ins_1", code_id: from },
      });
    expect(await again(first)).toEqual({
      subjects: [],
      problems: [],
      modules: [ACME],
      installed: [],
      image_changed: false,
      compared_with: null,
      missing: [],
    });
    expect(existsSync(note("request"))).toBe(false);
    expect(fact(`codes/${code_id}/addons`)).toBe("/mnt/extra-addons/1-acme");
    expect((await again("op_gone")).subjects).toEqual(["Prices"]);
    expect(existsSync(note("request"))).toBe(true);
  });

  const DIGEST = `sha256:${"5".repeat(64)}`;

  test("the image of the code before stays, and its digest is told", async () => {
    installedWith();
    writeFileSync(
      note("images"),
      `case "$*" in *RepoDigests*) echo odoo@${DIGEST} ;; *.Created*) echo 2026-11-20T03:00:00.5Z ;; *) echo ${NEW.erp} ;; esac`,
    );
    await fetch();
    await packages();
    await keep();
    expect(await update()).toMatchObject({ image: { id: OLD.erp, digest: DIGEST } });
    await settle();
    const first = code_id;
    code_id = `op_deploy_${randomBytes(4).toString("hex")}`;
    images();
    await fetch();
    await pull();
    await packages();
    await keep();
    await update();
    await settle();
    expect(fact(`codes/${first}/last_image`)).toBe(OLD.erp);
    writeFileSync(note("unused"), `${OLD.erp}\n${OLD.database}\n`);
    await jobs.run<"update_proxy">({ kind: "update_proxy" });
    expect(readFileSync(note("removed-images"), "utf8")).toBe(`image rm ${OLD.database}\n`);
  });

  test("an earlier image comes back, from the registry if the machine has it no more, and the database server keeps its own", async () => {
    installedWith();
    const docker = (has: string): void =>
      writeFileSync(note("images"), `case "$*" in *.Created*) echo 2026-01-20T03:00:00Z ;; *${NEW.erp}) ${has} ;; esac`);
    docker("true");
    await fetch();
    expect(await pull({ id: NEW.erp, digest: null })).toMatchObject({ id: NEW.erp, previous_id: OLD.erp, changed: true });
    expect(fact(`codes/${code_id}/db_image`)).toBe(OLD.database);
    await undo();

    await fetch();
    docker(`[ -e $NOTES/pulled ]`);
    writeFileSync(note("registry"), "");
    expect(await pull({ id: NEW.erp, digest: DIGEST })).toMatchObject({ id: NEW.erp, changed: true });
    expect(readFileSync(note("pulls"), "utf8")).toContain(`odoo@${DIGEST}`);
    await undo();

    await fetch();
    rmSync(note("pulled"));
    rmSync(note("registry"));
    await expect(pull({ id: NEW.erp, digest: DIGEST })).rejects.toMatchObject({
      message: `HOST_JOB_FAILED: The image odoo@${DIGEST} could not be pulled: the registry has no such image, or shows it only to others`,
    });
  });

  test("another major version of the database server is never taken", async () => {
    installedWith();
    images(17);
    await fetch();
    await pull();
    expect(fact(`codes/${code_id}/db_image`)).toBe(OLD.database);
  });

  test("an undo before the ERP has stopped only removes the code", async () => {
    await fetch();
    await undo();
    expect(databases()).toEqual({ shop: "7" });
    expect(existsSync(here("codes", code_id))).toBe(false);
    expect(existsSync(note("updates"))).toBe(false);
  });

  test("a deploy that was abandoned in the middle is put back by the next job on the instance", async () => {
    await fetch();
    await packages();
    await keep();
    const { [`old_${code_id}`]: keptDatabase } = databases();
    rmSync(here("stopped_at"), { force: true });
    await jobs.run<"start_erp">({ kind: "start_erp", ...of });
    expect(databases()).toEqual({ shop: keptDatabase });
    expect(existsSync(here("codes", code_id))).toBe(false);
  });
});
