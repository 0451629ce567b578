// The tasks of a deploy, run in this process: which jobs they give to the machine, and what stays of a deploy when its machine
// fails at the end. A test may put its own response in place of a job's.
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { handler as check } from "../../functions/workflows/check-code-instance/tasks.ts";
import { handler } from "../../functions/workflows/deploy-instance/tasks.ts";
import { workflows } from "../../functions/workflows/index.ts";
import { Code } from "../../shared/api/code.ts";
import { Deploy } from "../../shared/api/deploys.ts";
import type { OperationErrorCode } from "../../shared/api/errors.ts";
import { keys } from "../../shared/data/keys.ts";
import { putOne, removeOne } from "../../shared/data/table.ts";
import { newId } from "../../shared/domain/ids.ts";
import { because, inEnglish, type Reason } from "../../shared/domain/reasons.ts";
import type { Job, JobKind, JobResult } from "../../shared/hosts/host.ts";
import { GiveUp } from "../../shared/platform/task-errors.ts";
import { FIRST_IMAGE } from "../../shared/providers/sandbox/images.ts";
import { changeErp } from "../../shared/providers/sandbox/machines.ts";
import { getServer } from "../../shared/records/servers.ts";
import { processCloud } from "../harness/cloud.ts";
import { uniqueDomain } from "../harness/account.ts";
import { erpsOf } from "./erps.ts";
import { InjectedError, type WorkflowHarness, workflowHarness } from "./harness.ts";

/** The jobs in the order of their requests, the kinds that fail, and what the machine has instead of the newest image. */
const machine = vi.hoisted(() => ({
  jobs: new Array<Job>(),
  fails: new Array<JobKind>(),
  has: undefined as Pulled | undefined,
  /** How a job fails, as a real machine says it. */
  reports: undefined as { of: JobKind; code: OperationErrorCode; reason: Reason; log?: string } | undefined,
  /** Whether the ERP never responds. */
  silent: false,
}));
type Pulled = Pick<JobResult<"pull_images">, "id" | "created_at"> & Partial<JobResult<"pull_images">>;

vi.mock("../../shared/hosts/sandbox/host.ts", async (original) => {
  const { sandbox } = await original<typeof import("../../shared/hosts/sandbox/host.ts")>();
  const run = async (server: Parameters<typeof sandbox.run>[0], job: Job) => {
    machine.jobs.push(job);
    if (job.kind === machine.reports?.of)
      throw new GiveUp(machine.reports.code, machine.reports.reason, { log: machine.reports.log ?? "a log" });
    if (job.kind === "check_health" && machine.silent) return { ready: false, reason: because("erp_silent") };
    if (machine.fails.includes(job.kind)) throw new GiveUp("HOST_JOB_FAILED", because("erp_does_not_stop"));
    if (job.kind === "pull_images" && machine.has !== undefined)
      return { ready: true, result: { previous_id: machine.has.id, changed: false, modules: null, ...machine.has } };
    return sandbox.run(server, job);
  };
  return { sandbox: { ...sandbox, run } };
});

let harness: WorkflowHarness;
beforeAll(async () => {
  harness = await workflowHarness(await processCloud(), { seeded: true });
});
afterAll(() => {
  reset(); // the next file has this process
  harness.close();
});
beforeEach(reset);
function reset(): void {
  machine.jobs.length = 0;
  machine.fails.length = 0;
  machine.has = undefined;
  machine.reports = undefined;
  machine.silent = false;
}

const { api, show } = erpsOf(() => harness);
const kinds = (): string[] => machine.jobs.map(({ kind }) => kind);

async function instanceWithCode(fields: Record<string, unknown> = {}): Promise<string> {
  const { id } = await harness.me.instance(fields);
  const repositories = [{ url: "https://git.example/acme", ref: "main" }];
  await (await api()).put(`/instances/${id}/code`, { repositories, install_modules: ["acme"] });
  return id;
}

/** Each task runs here, unless it is the one that fails. */
async function deploy(id: string, body: object = {}, failing?: { task: string; message: string }) {
  const request = (await api()).post(`/instances/${id}/deploys`, body);
  const { operation } = await harness.run(
    workflows["deploy-instance"],
    () => request,
    async ({ task, payload }) => {
      if (task === failing?.task) throw new InjectedError("GiveUp", failing.message);
      return handler(payload);
    },
  );
  const { id: deployId } = (await request).as(Deploy);
  return { operation, deploy: (await (await api()).get(`/deploys/${deployId}`)).as(Deploy) };
}

test("the ERP is known to have the new code, also if what it replaced cannot be removed", async () => {
  const id = await instanceWithCode();
  machine.fails.push("settle_code");
  const { operation, deploy: endedDeploy } = await deploy(id, { rehearse: false, backup_first: false });
  expect([operation.state, endedDeploy.status]).toEqual(["succeeded", "completed"]);
  const code = (await (await api()).get(`/instances/${id}/code`)).as(Code);
  expect(code.repositories.map(({ commit }) => commit)).toEqual(endedDeploy.commits.map(({ commit }) => commit));
});

test("what the ERP wrote says why it does not respond with the new code", async () => {
  const id = await instanceWithCode();
  const message = "HEALTH_CHECK_FAILED: The ERP did not respond with the new code, so the code and the data were put back";
  const failing = { task: "awaitHealthy", message };
  const { operation, deploy: endedDeploy } = await deploy(id, { rehearse: false, backup_first: false }, failing);
  expect(operation.error).toMatchObject({ code: "HEALTH_CHECK_FAILED" });
  expect(endedDeploy.log_excerpt).toContain("odoo.modules.registry: Registry loaded");
  expect((await show(id)).status).toBe("running");
});

test("errors name the repository of each module also where the machine sends the end of its log with them", async () => {
  const id = await instanceWithCode();
  const reason = because("update_failed", { modules: "acme" });
  machine.reports = {
    of: "update_modules",
    code: "UPDATE_FAILED",
    reason: because("machine_reports", { why: reason, log: "a log" }),
  };
  const { operation } = await deploy(id, { rehearse: false, backup_first: false });
  expect(operation.error).toMatchObject({
    code: "UPDATE_FAILED",
    message: expect.stringMatching(/Modules: acme \(https:\/\/git\.example\/acme\)\na log$/),
  });
});

test.each([
  ["No matching distribution found for nowhere==1.0", "nowhere"],
  [
    "Cannot install num2words==0.5.13 and num2words==0.5.14 because these package versions have conflicting dependencies.",
    "num2words==0.5.13 and num2words==0.5.14",
  ],
  ["Double requirement given: num2words==0.5.14 (from -r /dev/stdin (line 2)) (already in num2words==0.5.13)", "num2words"],
])("the error names what pip stopped at: %s", async (line, packageName) => {
  const id = await instanceWithCode();
  const reason = because("python_packages_not_installed");
  machine.reports = { of: "install_packages", code: "BUILD_FAILED", reason, log: `Collecting\nERROR: ${line}\n` };
  const { operation } = await deploy(id, { rehearse: false, backup_first: false });
  expect(operation.error).toMatchObject({ reason: because("python_package_not_installed", { package: packageName }) });
});

test("a rollback with the data records whether that is neutralized", async () => {
  const id = await instanceWithCode();
  const { deploy: first } = await deploy(id, { rehearse: false, backup_first: false });
  const { server_id } = await show(id);
  const machineId = String((await getServer(harness.me.id, server_id)).machine_id);
  const neutralize = (neutralized: boolean) =>
    changeErp(machineId, id, ({ database }) => ({ database: database && { ...database, neutralized } }));
  await neutralize(true);
  await deploy(id, { rehearse: false });
  await neutralize(false);
  expect((await show(id)).neutralized).toBe(false);
  await deploy(id, { rollback_to: first.id, restore_database: true, backup_first: false });
  expect((await show(id)).neutralized).toBe(true);
});

test("an ERP that does not respond with the new code is named with the modules that were updated", async () => {
  const id = await instanceWithCode();
  machine.silent = true;
  const { operation } = await deploy(id, { rehearse: false, backup_first: false });
  expect(operation.error).toMatchObject({
    code: "HEALTH_CHECK_FAILED",
    reason: because("deploy_modules_not_healthy", { modules: "acme (https://git.example/acme)" }),
  });
});

test("a deploy that was to bring the newest image fails where the machine could not get it, before the ERP stops", async () => {
  const id = await instanceWithCode({ domain: uniqueDomain("old-image.shop") });
  machine.has = FIRST_IMAGE;
  const { operation } = await deploy(id, { update_image: true, rehearse: false, backup_first: false });
  expect(operation.error).toMatchObject({ code: "HOST_JOB_FAILED", message: "The image odoo:19.0 could not be pulled" });
  expect(kinds()).not.toContain("keep_data");
});

test("a deploy that fails has brought no image", async () => {
  const id = await instanceWithCode({ domain: uniqueDomain("old-image.shop") });
  machine.reports = { of: "update_modules", code: "UPDATE_FAILED", reason: because("update_failed", { modules: "acme" }) };
  const { deploy: endedDeploy } = await deploy(id, { update_image: true, rehearse: false, backup_first: false });
  expect(kinds()).toContain("pull_images");
  expect([endedDeploy.status, endedDeploy.image]).toEqual(["failed", null]);
});

test("a deploy that updates no module is rehearsed, too", async () => {
  const id = await instanceWithCode();
  await deploy(id, { rehearse: false, backup_first: false });
  await (await api()).put(`/instances/${id}/code`, { environment: [{ name: "CARRIER_URL", value: "https://carrier.example" }] });
  machine.jobs.length = 0;
  const { deploy: endedDeploy } = await deploy(id, { backup_first: false });
  expect(machine.jobs.find(({ kind }) => kind === "rehearse_code")).toMatchObject({ update: [], install: [] });
  expect(endedDeploy.rehearsal).toMatchObject({ status: "passed" });
});

describe("a deploy that updates no module", () => {
  const unchanged = async (): Promise<string> => {
    const id = await instanceWithCode();
    await deploy(id, { rehearse: false, backup_first: false });
    machine.jobs.length = 0;
    return id;
  };

  test("is not rehearsed while another operation has the place, and says so", async () => {
    const id = await unchanged();
    const place = keys.drill(harness.me.id, (await show(id)).server_id);
    await putOne(place, { operation_id: newId("operation") });
    const { deploy: endedDeploy } = await deploy(id, { backup_first: false });
    await removeOne(place);
    expect(kinds()).not.toContain("rehearse_code");
    expect(endedDeploy).toMatchObject({
      status: "completed",
      rehearsal: { status: "skipped", duration_seconds: null, error: inEnglish(because("rehearsal_place_taken")) },
    });
  });

  test("goes on without a rehearsal that the machine cannot run, and shows the reason, but no log of a failed step", async () => {
    const id = await unchanged();
    const reason = because("rehearsal_memory", { needed: "1152", free: "300" });
    machine.reports = {
      of: "rehearse_code",
      code: "HOST_JOB_FAILED",
      reason: because("machine_reports", { why: reason, log: "a log" }),
    };
    expect((await deploy(id, { backup_first: false })).deploy).toMatchObject({
      status: "completed",
      rehearsal: { status: "skipped", error: inEnglish(reason) },
      log_excerpt: null,
    });
  });

  test("is rehearsed once, also if the task runs again after it has left the place", async () => {
    const id = await unchanged();
    const request = (await api()).post(`/instances/${id}/deploys`, { backup_first: false });
    await harness.run(
      workflows["deploy-instance"],
      () => request,
      async ({ task, payload }) => {
        const result = await handler(payload);
        return task === "rehearse" ? handler(payload) : result;
      },
    );
    const endedDeploy = (await (await api()).get(`/deploys/${(await request).as(Deploy).id}`)).as(Deploy);
    expect(endedDeploy.rehearsal?.status).toBe("passed");
  });
});

test("a rehearsal that does not end in time fails the deploy, whether it updates modules or not", async () => {
  const id = await instanceWithCode();
  const slow = { why: because("job_slow"), log: "a log" };
  machine.reports = { of: "rehearse_code", code: "TIMEOUT", reason: because("machine_reports", slow) };
  const expectSlow = async (): Promise<void> => {
    const { operation, deploy: endedDeploy } = await deploy(id, { backup_first: false });
    const reason = because("rehearsal_stopped", { why: because("rehearsal_slow", { minutes: 210 }) });
    expect(operation.error).toMatchObject({
      code: "REHEARSAL_FAILED",
      reason: because("machine_reports", { why: reason, log: "a log" }),
    });
    expect(endedDeploy).toMatchObject({ status: "failed", rehearsal: { status: "failed" }, log_excerpt: "a log" });
  };
  await expectSlow();
  await deploy(id, { rehearse: false, backup_first: false });
  await expectSlow();
});

test("an update whose place of a rehearsal is lost is rehearsed all the same", async () => {
  const id = await instanceWithCode();
  const place = keys.drill(harness.me.id, (await show(id)).server_id);
  const request = (await api()).post(`/instances/${id}/deploys`, { backup_first: false });
  machine.jobs.length = 0;
  let isLost = false;
  await harness.run(
    workflows["deploy-instance"],
    () => request,
    async ({ task, payload }) => {
      if (task === "rehearse" && !isLost) {
        isLost = true;
        await removeOne(place);
      }
      return handler(payload);
    },
  );
  expect(kinds()).toContain("rehearse_code");
  const endedDeploy = (await (await api()).get(`/deploys/${(await request).as(Deploy).id}`)).as(Deploy);
  expect(endedDeploy).toMatchObject({ status: "completed", rehearsal: { status: "passed" } });
});

test("a check that is to trust new host keys has the machine forget the ones before, and needs what setting the code needs", async () => {
  const id = await instanceWithCode();
  const body = { trust_new_host_keys: true };
  const { api: weaker } = await harness.me.token(["instances:write"]);
  expect((await weaker.post(`/instances/${id}/code/check`, body)).error).toMatchObject({ code: "FORBIDDEN" });
  await harness.run(
    workflows["check-code-instance"],
    async () => (await api()).post(`/instances/${id}/code/check`, body),
    ({ payload }) => check(payload),
  );
  expect(machine.jobs.find(({ kind }) => kind === "resolve_code")).toMatchObject(body);
});

test("what keeps a rehearsal from its end names how to deploy without one if it is a lack of memory or room", async () => {
  const id = await instanceWithCode();
  for (const [reason, sentence] of [
    [because("disk_almost_full", { free_mb: "512" }), "512 MB free"],
    [because("out_of_memory", { what: "The throwaway database server" }), "server ran out of memory"],
  ] as const) {
    machine.reports = {
      of: "rehearse_code",
      code: "HOST_JOB_FAILED",
      reason: because("machine_reports", { why: reason, log: "a log" }),
    };
    expect((await deploy(id, { backup_first: false })).operation.error).toMatchObject({
      code: "HOST_JOB_FAILED",
      reason: because("machine_reports", { why: because("rehearsal_stopped", { why: reason }), log: "a log" }),
      message: expect.stringMatching(new RegExp(`${sentence}\\. To deploy all the same, set rehearse to false\na log$`)),
    });
  }
  for (const reason of [because("rehearsal_memory", { needed: "1152", free: "300" }), because("rehearsal_not_copied")]) {
    machine.reports = { of: "rehearse_code", code: "HOST_JOB_FAILED", reason };
    expect((await deploy(id, { backup_first: false })).operation.error?.reason).toEqual(reason);
  }
});

test("an update of data that a backup brings back is not rehearsed on the present data", async () => {
  const id = await instanceWithCode({ domain: uniqueDomain("old-image.shop") });
  const { deploy: first } = await deploy(id, { rehearse: false, backup_first: false });
  await deploy(id, { rehearse: false });
  machine.jobs.length = 0;
  const { operation } = await deploy(id, { rollback_to: first.id, restore_database: true, update_image: true });
  expect(operation.state).toBe("succeeded");
  expect(kinds()).not.toContain("rehearse_code");
  expect(machine.jobs.find(({ kind }) => kind === "update_modules")).toMatchObject({ update: ["base"] });
});

test("a rollback whose older image has a module in a lower version than the database fails before the ERP stops", async () => {
  const id = await instanceWithCode({ domain: uniqueDomain("old-image.shop") });
  const { deploy: first } = await deploy(id, { rehearse: false, backup_first: false });
  await deploy(id, { update_image: true, rehearse: false });
  machine.jobs.length = 0;
  const modules = [
    { name: "base", version: "19.0.1.4", image_version: "19.0.1.3" },
    { name: "own", version: "19.0.1.0", image_version: null },
  ];
  machine.has = { ...FIRST_IMAGE, changed: true, modules };
  const { operation } = await deploy(id, { rollback_to: first.id, rehearse: false, backup_first: false });
  expect(operation.error).toMatchObject({ code: "CODE_INVALID", reason: because("rollback_modules_newer", { modules: "base" }) });
  expect(kinds()).not.toContain("keep_data");
  expect((await deploy(id, { rollback_to: first.id, restore_database: true, backup_first: false })).operation.state).toBe(
    "succeeded",
  );
});

test("a rollback installs the packages as they were resolved then, whatever the newest are", async () => {
  const id = await instanceWithCode();
  const set = async (python_packages: string[]) => (await api()).put(`/instances/${id}/code`, { python_packages });
  await set(["num2words>=0.5"]);
  const { deploy: first } = await deploy(id, { rehearse: false, backup_first: false });
  await set(["num2words>=0.6"]);
  await deploy(id, { rehearse: false, backup_first: false });
  machine.jobs.length = 0;
  await deploy(id, { rollback_to: first.id, rehearse: false, backup_first: false });
  expect(machine.jobs.find(({ kind }) => kind === "install_packages")).toMatchObject({ packages: ["num2words==0.5"] });
});
