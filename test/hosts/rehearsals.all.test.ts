// A rehearsal of a deploy on a machine: the modules are updated in a copy of the data, and the ERP stays as it is.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { unless } from "../harness/unless.ts";
import { code_id, ERP, fact, fetchCode, here, installPackages, jobs, note, PLAN, startDeploys } from "./deploy.ts";
import { noMachine } from "./machine.ts";

describe("a deploy", unless(noMachine), () => {
  startDeploys();

  test("a rehearsal updates a copy without network, files or scheduled jobs, and leaves the ERP as it is", async () => {
    await fetchCode();
    await installPackages();
    const rehearse = () => jobs.run<"rehearse_code">({ kind: "rehearse_code", ...ERP, code_id, ...PLAN });
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
    await fetchCode();
    await installPackages();
    const job = { kind: "rehearse_code", ...ERP, code_id, update: [], install: [] } as const;
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
    await fetchCode();
    await installPackages();
    writeFileSync(note("sql-error"), "psql:/in:3: server closed the connection unexpectedly\n");
    writeFileSync(note("sql-status"), "2");
    writeFileSync(note("killed"), "erp-drill-db\n");
    await expect(jobs.run<"rehearse_code">({ kind: "rehearse_code", ...ERP, code_id, ...PLAN })).rejects.toMatchObject({
      code: "HOST_JOB_FAILED",
      message: expect.stringContaining("The throwaway database server ran out of memory"),
    });
  });

  test("a rehearsal for which there is no room says how to deploy without one", async () => {
    await fetchCode();
    await installPackages();
    jobs.machine.standIn("df", `echo Avail; echo ${200 * 1024 * 1024}`);
    const rehearsed = jobs.run<"rehearse_code">({ kind: "rehearse_code", ...ERP, code_id, ...PLAN });
    await expect(rehearsed.finally(() => jobs.machine.standIn("df", 'exec /usr/bin/df "$@"'))).rejects.toMatchObject({
      code: "HOST_JOB_FAILED",
      message: expect.stringMatching(/but the server has 200 MB free\. To deploy all the same, set rehearse to false/),
    });
  });
});
