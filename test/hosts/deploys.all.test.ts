// A deploy on a machine, with a server that has databases: the code is fetched, its packages are built, and its modules updated.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { unless } from "../harness/unless.ts";
import {
  ACME,
  CODE,
  code_id,
  databases,
  ERP,
  fact,
  fetchCode,
  HASH,
  installPackages,
  jobs,
  keepData,
  nextDeploy,
  note,
  settleCode,
  startDeploys,
  updateModules,
} from "./deploy.ts";
import { noMachine } from "./machine.ts";

const OLD_IMAGE = "0".repeat(64);

describe("a deploy", unless(noMachine), () => {
  startDeploys();

  test("fetches with credentials on stdin alone, and keeps what the ERP needs of the code for root alone", async () => {
    expect(await fetchCode()).toEqual({
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
    await expect(fetchCode()).rejects.toMatchObject({ code: "HOST_JOB_FAILED" });
    expect(fact(`codes/${code_id}/addons`)).toBe("/mnt/extra-addons/1-acme");
    expect(fact(`codes/${code_id}/modules`)).not.toMatch(/drop table/);
  });

  test("packages are built in a scratch of a fixed size, and what is too large for it gets no further", async () => {
    const install = () =>
      jobs.run<"install_packages">({
        kind: "install_packages",
        ...ERP,
        code_id,
        packages: ["num2words>=0.5", "xlrd==2.0.1"],
        allow_source_builds: true,
      });
    for (const folder of ["built", "installed"]) mkdirSync(note(folder));
    writeFileSync(note("built/num2words.py"), "ONE = 1");
    await fetchCode();
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
    await fetchCode();
    await installPackages();
    await keepData();
    expect(Object.keys(databases()).toSorted()).toEqual([`old_${code_id}`, "shop"]);
    const { downtime_seconds } = await updateModules();
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
    await settleCode();
    expect(databases()).toEqual({ shop: "7" });
    expect(fact("code")).toBe(code_id);
    expect(existsSync(jobs.store(`old_${code_id}`))).toBe(false);
  });

  test("the database remembers what each module was last updated with, also if others were named", async () => {
    const [before, now] = ["b".repeat(40), "c".repeat(40)];
    const modules = ["acme", "other", "fresh"].map((name) => ({ name, version: "19.0.1.0", hash: now }));
    writeFileSync(note("code"), JSON.stringify({ ...CODE, modules }));
    writeFileSync(note("installed"), `["acme", "19.0.1.0"]\n["other", "19.0.2.0"]\n`);
    writeFileSync(note("hashes"), JSON.stringify({ acme: before, other: before, gone: before, "(image)": OLD_IMAGE }));
    expect(await fetchCode()).toMatchObject({
      modules: [{ database_version: "19.0.1.0" }, { database_version: "19.0.2.0" }, { database_version: null }],
      installed: ["acme", "other"],
      image_changed: true,
    });
    await installPackages();
    await keepData();
    await updateModules(); // of acme alone
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
    expect(await fetchCode()).toMatchObject({ missing: [] });
    await installPackages();
    await keepData();
    await updateModules();
    await settleCode();
    nextDeploy();
    writeFileSync(note("code"), JSON.stringify(CODE));
    expect(await fetchCode()).toMatchObject({ missing: ["other"] });
    rmSync(ofImage, { recursive: true });
  });

  test("one job keeps the data, updates the modules and starts the ERP, and goes on where it was killed", async () => {
    await fetchCode();
    await installPackages();
    expect((await updateModules()).downtime_seconds).toBeGreaterThanOrEqual(0);
    expect(databases()).toEqual({ shop: expect.any(String), [`old_${code_id}`]: expect.any(String) });
    rmSync(note("starts"));
    rmSync(note("updates"));
    await updateModules(); // as after a machine that lost its power while the ERP started
    expect([existsSync(note("starts")), existsSync(note("updates"))]).toEqual([true, false]);
    await settleCode();
  });
});
