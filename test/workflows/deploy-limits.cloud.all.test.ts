// Deploys at their limits: the largest record, what an ERP may log, the wait for the place of a rehearsal, and a repository that
// is slow.
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { handler } from "../../functions/workflows/deploy-instance/tasks.ts";
import { workflows } from "../../functions/workflows/index.ts";
import { Deploy } from "../../shared/api/deploys.ts";
import { keys } from "../../shared/data/keys.ts";
import { putOne, removeOne } from "../../shared/data/table.ts";
import { CODE, DEPLOY } from "../../shared/domain/limits.ts";
import { because } from "../../shared/domain/reasons.ts";
import { type Job, JOB_RESULTS } from "../../shared/hosts/host.ts";
import { sandbox } from "../../shared/hosts/sandbox/host.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { GiveUp } from "../../shared/platform/task-errors.ts";
import { later, listJobs } from "../../shared/providers/sandbox/machines.ts";
import { recordDeployed } from "../../shared/records/code.ts";
import { getInstance } from "../../shared/records/instances.ts";
import { getServer } from "../../shared/records/servers.ts";
import { newId } from "../../shared/domain/ids.ts";
import { processCloud } from "../harness/cloud.ts";
import { erpsOf } from "./erps.ts";
import { InjectedError, type WorkflowHarness, workflowHarness } from "./harness.ts";

/** What the machine responds to a job instead. */
const responses = vi.hoisted(() => new Map<string, () => unknown>());

vi.mock("../../shared/hosts/sandbox/host.ts", async (original) => {
  const { sandbox: host } = await original<typeof import("../../shared/hosts/sandbox/host.ts")>();
  const run = async (server: Parameters<typeof host.run>[0], job: Job) => {
    const respond = responses.get(job.kind);
    return respond === undefined ? host.run(server, job) : { ready: true, result: JOB_RESULTS[job.kind].parse(respond()) };
  };
  const readLog = (...of: Parameters<typeof host.readLog>) => {
    const respond = responses.get("read_log");
    return respond === undefined ? host.readLog(...of) : Promise.resolve(String(respond()));
  };
  return { sandbox: { ...host, run, readLog } };
});

let harness: WorkflowHarness;
beforeAll(async () => {
  harness = await workflowHarness(await processCloud(), { seeded: true });
});
beforeEach(() => responses.clear());
afterAll(() => {
  responses.clear(); // the next file has this process
  harness.close();
});
const { api, show } = erpsOf(() => harness);

/** Each task runs here; `before` is called with its name and its try. */
async function deploy(
  id: string,
  body: object,
  before: (task: string, tries: number) => Promise<void> = () => Promise.resolve(),
) {
  const request = (await api()).post(`/instances/${id}/deploys`, body);
  const { operation, tasks } = await harness.run(
    workflows["deploy-instance"],
    () => request,
    async ({ task, payload, tries }) => {
      await before(task, tries);
      return handler(payload);
    },
  );
  const response = await (await api()).get(`/deploys/${(await request).as(Deploy).id}`);
  return { operation, tasks: tasks.map(({ task }) => task), deploy: response.as(Deploy) };
}

/** Characters that take the most: of three bytes, and such that JSON escapes. */
test.each(["\u8a9e", '"'])("the largest record of a deploy has at most 64 KB, of the character %s", async (wide) => {
  const { id } = await harness.me.instance();
  await setQuota(harness.me.id, "repositories", CODE.repositoriesMax);
  const numbers = Array.from({ length: CODE.repositoriesMax }, (_, index) => String(index).padStart(3, "0"));
  const repositories = numbers.map((number) => ({
    url: `https://git.example/${number}`.padEnd(500, "x"),
    ref: number.padEnd(200, "r"),
    path: null,
  }));
  const buildNames = (kind: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${kind}_${index}_`.padEnd(64, "m"));
  const [installed, install, otherModules] = [buildNames("a", 300), buildNames("b", CODE.modulesMax), buildNames("c", 300)];
  const put = await (await api()).put(`/instances/${id}/code`, { repositories, install_modules: install });
  expect(put.status).toBe(200);
  const commits = repositories.map((repository, index) => ({ ...repository, commit: String(index % 10).repeat(40) }));
  responses.set("resolve_code", () => ({ commits: commits.map(({ commit }) => ({ commit, problem: null, host_key: null })) }));
  responses.set("fetch_code", () => ({
    subjects: commits.map(() => wide.repeat(200)),
    problems: [],
    modules: [...installed, ...install, ...otherModules].map((name, index) => ({
      name,
      version: "19.0.1.0",
      changed: true,
      database_version: null,
      repository: index % CODE.repositoriesMax,
    })),
    installed,
    missing: [],
    image_changed: false,
    compared_with: null,
  }));
  responses.set("install_packages", () => ({ packages: buildNames("p", 500).map((name) => `${name}==1.0`) }));
  responses.set("rehearse_code", () => {
    const reason = because("rehearsal_failed", { modules: installed.slice(0, 5).join(", ") });
    const log = wide.repeat(DEPLOY.logBytes / Buffer.byteLength(wide));
    throw new GiveUp("REHEARSAL_FAILED", because("machine_reports", { why: reason, log: log.slice(0, 800) }), { log });
  });
  const record = await getInstance(harness.me.id, id);
  const before = { deploy_id: newId("deploy"), code_id: newId("operation"), commits, python_packages: [], whole: true };
  await recordDeployed(record, before);
  const { deploy: endedDeploy } = await deploy(id, {
    backup_first: false,
    note: wide.repeat(200),
    modules: installed.slice(0, 100),
  });
  expect(endedDeploy.commits.every(({ previous_commit }) => previous_commit !== null)).toBe(true);
  expect([endedDeploy.status, endedDeploy.rehearsal?.status, endedDeploy.commits.length]).toEqual([
    "failed",
    "failed",
    CODE.repositoriesMax,
  ]);
  expect(endedDeploy.python_packages.length * (endedDeploy.modules?.changed_but_not_installed.length ?? 0)).toBeGreaterThan(0);
  const bytes = Buffer.byteLength(JSON.stringify(endedDeploy));
  expect(bytes).toBeGreaterThan(40 * 1024); // it is a large one
  expect(bytes).toBeLessThanOrEqual(64 * 1024 - 512); // with an image and a backup, which this one has not
});

test("the end of the ERP's log that a deploy keeps has no password in it, and control characters as escapes", async () => {
  const { id } = await harness.me.instance();
  const repositories = [{ url: "https://git.example/acme", ref: "main" }];
  await (await api()).put(`/instances/${id}/code`, { repositories, install_modules: ["acme"] });
  responses.set("read_log", () => "2026-11-26T19:00:00.000000000Z \u001b[31m db_password=hunter2 \u202etxt.exe\n");
  const { deploy: endedDeploy } = await deploy(id, { rehearse: false, backup_first: false }, async (task) => {
    if (task === "awaitHealthy") throw new InjectedError("GiveUp", "HEALTH_CHECK_FAILED: The ERP does not respond");
  });
  expect(endedDeploy.log_excerpt).toBe("2026-11-26T19:00:00.000000000Z \\x1b[31m db_password=[redacted] \\u202etxt.exe");
});

test("a deploy waits for the place of a rehearsal, which another operation has, and goes on once it is free", async () => {
  const { id } = await harness.me.instance();
  const repositories = [{ url: "https://git.example/acme", ref: "main" }];
  await (await api()).put(`/instances/${id}/code`, { repositories, install_modules: ["acme"] });
  const place = keys.drill(harness.me.id, (await show(id)).server_id);
  await putOne(place, { operation_id: newId("operation") });
  const { tasks, deploy: endedDeploy } = await deploy(id, { backup_first: false }, async (task, tries) => {
    if (task === "awaitPlace" && tries === 3) await removeOne(place);
  });
  expect(tasks.filter((task) => task === "awaitPlace")).toHaveLength(3);
  expect(tasks.indexOf("rehearse")).toBeGreaterThan(tasks.lastIndexOf("awaitPlace"));
  expect([endedDeploy.status, endedDeploy.rehearsal?.status]).toEqual(["completed", "passed"]);
});

test("a sandbox repository at the ref `slow` takes 20 seconds longer", async () => {
  const { id } = await harness.me.instance();
  const server = await getServer(harness.me.id, (await show(id)).server_id);
  const fetch = async (ref: string) => {
    const operation = newId("operation");
    await sandbox.run(server, {
      id: `${operation}-fetchCode`,
      kind: "fetch_code",
      instance_id: id,
      code_id: operation,
      repositories: [{ url: "https://git.example/acme", ref, path: null, commit: "1".repeat(40), credential: null }],
      environment: [],
      named_modules: [],
      keep: false,
    });
    const [job] = await listJobs(server.machine_id ?? "", operation);
    return job?.ready_at ?? "";
  };
  const earliest = later(20); // of simulated seconds
  expect((await fetch("slow")) >= earliest).toBe(true);
  const ready = await fetch("main");
  expect(ready < later(20)).toBe(true);
});
