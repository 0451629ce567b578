// The images of the ERP and of its database server: which ones a deploy pulls, uses, keeps and puts back.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { unless } from "../harness/unless.ts";
import {
  code_id,
  ERP,
  fact,
  fetchCode,
  here,
  installPackages,
  jobs,
  keepData,
  nextDeploy,
  note,
  PLAN,
  settleCode,
  startDeploys,
  undoCode,
  updateModules,
} from "./deploy.ts";
import { noMachine } from "./machine.ts";

describe("a deploy", unless(noMachine), () => {
  startDeploys();

  test("from its first start on, the database remembers the image, unless it already does", async () => {
    rmSync(note("asked"), { force: true });
    await jobs.run<"start_erp">({ kind: "start_erp", ...ERP });
    const noted = /\('hosting\.module_hashes', '([^']*)'\)\s+on conflict \(key\) do nothing/.exec(
      readFileSync(note("asked"), "utf8"),
    );
    expect(JSON.parse(noted?.[1] ?? "")).toEqual({ "(image)": fact("image").replace(/^sha256:/, "") });
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
    jobs.run<"pull_images">({ kind: "pull_images", ...ERP, code_id, image });

  const installedWith = (): void => {
    writeFileSync(here("image"), OLD.erp);
    writeFileSync(here("db_image"), OLD.database);
  };

  test("new images are used from the rehearsal on, and the instance gets them with the update", async () => {
    installedWith();
    images();
    await fetchCode();
    const pulled = { id: NEW.erp, created_at: "2026-11-20T03:00:00.500Z", previous_id: OLD.erp, changed: true, modules: null };
    expect(await pull()).toEqual(pulled);
    await installPackages();
    expect([fact("image"), fact("db_image")]).toEqual([OLD.erp, OLD.database]);
    await jobs.run<"rehearse_code">({ kind: "rehearse_code", ...ERP, code_id, ...PLAN });
    await keepData();
    await updateModules();
    for (const ran of readFileSync(note("updates"), "utf8").trimEnd().split("\n")) expect(ran).toContain(NEW.erp);
    expect(fact("compose.yaml")).toContain(`image: "${NEW.erp}"`);
    expect(fact("compose.yaml")).toContain(`image: "${NEW.database}"`);
    await settleCode();
    expect([fact("image"), fact("db_image")]).toEqual([NEW.erp, NEW.database]);
  });

  test("an update that fails puts the images back, too", async () => {
    installedWith();
    images();
    await fetchCode();
    await pull();
    await installPackages();
    await keepData();
    writeFileSync(note("update-fails"), "");
    await expect(updateModules()).rejects.toMatchObject({ code: "UPDATE_FAILED" });
    expect(fact("image")).toBe(NEW.erp);
    await undoCode();
    expect([fact("image"), fact("db_image")]).toEqual([OLD.erp, OLD.database]);
    expect(fact("compose.yaml")).toContain(`image: "${OLD.erp}"`);
    expect(fact("compose.yaml")).toContain(`image: "${OLD.database}"`);
  });

  test("the images that an undo needs stay, whichever job removes unused ones meanwhile, until the deploy is over", async () => {
    installedWith();
    images();
    await fetchCode();
    await pull();
    await installPackages();
    await keepData();
    await updateModules();
    writeFileSync(note("unused"), `${OLD.erp}\n${OLD.database}\n`);
    const removeUnused = () => jobs.run<"update_proxy">({ kind: "update_proxy" });
    await removeUnused();
    expect(existsSync(note("removed-images"))).toBe(false);
    await settleCode();
    await removeUnused();
    expect(readFileSync(note("removed-images"), "utf8")).toBe(`image rm ${OLD.erp}\nimage rm ${OLD.database}\n`);
  });

  const DIGEST = `sha256:${"5".repeat(64)}`;

  test("the image of the code before stays, and its digest is told", async () => {
    installedWith();
    writeFileSync(
      note("images"),
      `case "$*" in *RepoDigests*) echo odoo@${DIGEST} ;; *.Created*) echo 2026-11-20T03:00:00.5Z ;; *) echo ${NEW.erp} ;; esac`,
    );
    await fetchCode();
    await installPackages();
    await keepData();
    expect(await updateModules()).toMatchObject({ image: { id: OLD.erp, digest: DIGEST } });
    await settleCode();
    const first = code_id;
    nextDeploy();
    images();
    await fetchCode();
    await pull();
    await installPackages();
    await keepData();
    await updateModules();
    await settleCode();
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
    await fetchCode();
    expect(await pull({ id: NEW.erp, digest: null })).toMatchObject({ id: NEW.erp, previous_id: OLD.erp, changed: true });
    expect(fact(`codes/${code_id}/db_image`)).toBe(OLD.database);
    await undoCode();

    await fetchCode();
    docker(`[ -e $NOTES/pulled ]`);
    writeFileSync(note("registry"), "");
    expect(await pull({ id: NEW.erp, digest: DIGEST })).toMatchObject({ id: NEW.erp, changed: true });
    expect(readFileSync(note("pulls"), "utf8")).toContain(`odoo@${DIGEST}`);
    await undoCode();

    await fetchCode();
    rmSync(note("pulled"));
    rmSync(note("registry"));
    await expect(pull({ id: NEW.erp, digest: DIGEST })).rejects.toMatchObject({
      message: `HOST_JOB_FAILED: The image odoo@${DIGEST} could not be pulled: the registry has no such image, or shows it only to others`,
    });
  });

  test("another major version of the database server is never taken", async () => {
    installedWith();
    images(17);
    await fetchCode();
    await pull();
    expect(fact(`codes/${code_id}/db_image`)).toBe(OLD.database);
  });
});
