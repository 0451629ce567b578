// Runs every workflow through the API, from every status that the lifecycle allows, and intercepts its tasks.
import { expect } from "vitest";
import * as z from "zod";
import type { TaskCall } from "../../infra/local/states/states.ts";
import { workflows } from "../../functions/workflows/index.ts";
import { Backup } from "../../shared/api/backups.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import { Server } from "../../shared/api/servers.ts";
import { recordProbe } from "../../shared/records/machines.ts";
import { findOperation } from "../../shared/records/operations.ts";
import type { OperationRecord } from "../../shared/records/schemas/operation.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { getServer } from "../../shared/records/servers.ts";
import { FAILED_PROBES_MAX } from "../../shared/domain/limits.ts";
import {
  isServerPhase,
  LIFECYCLE,
  SERVER_PHASES,
  type ResourceType,
  type State,
  type Transition,
  type WorkflowName,
} from "../../shared/domain/lifecycle.ts";
import type { Poll, Step, Workflow } from "../../shared/domain/workflow.ts";
import { account, type AccountOptions, type TestAccount, unique, uniqueDomain } from "../harness/account.ts";
import type { ApiResponse, Client } from "../harness/client.ts";
import { seedBackupCode } from "../harness/seed.ts";
import { downloaded, sha256Of, uploaded } from "../harness/upload.ts";
import type { TestCloud } from "../harness/facts.ts";

/** An error with the name that Step Functions sees, as a task throws it. */
export class InjectedError extends Error {
  constructor(name: "GiveUp" | "TryAgain" | "Boom", message = REASON) {
    super(message);
    this.name = name;
  }
}
const REASON = "HOST_JOB_FAILED: As the test asked";
export const INJECTED = { code: "HOST_JOB_FAILED", message: "As the test asked" };

const Payload = z.looseObject({
  task: z.string(),
  input: z.looseObject({ operation_id: z.string() }),
});
export type Payload = z.infer<typeof Payload>;

/** One try of one task: runs it, or not, or twice. `tries` counts those of this task in this execution. */
export type Intercept = (
  call: { task: string; execution: string; payload: Payload; tries: number },
  next: Next,
) => Promise<unknown>;
type Next = (payload?: Payload) => Promise<unknown>;

export interface Run {
  operation: OperationRecord;
  /** The tasks in the order of their calls, each try once, by execution. */
  tasks: { execution: string; task: string }[];
}

export interface WorkflowHarness {
  cloud: TestCloud;
  me: TestAccount;
  /** An instance or a server to work on, and a request that starts the operation. */
  prepare: (workflow: Workflow, from?: State) => Promise<() => Promise<ApiResponse>>;
  /** Starts the operation, intercepts its tasks, and waits until everything has ended. */
  run: (workflow: Workflow, ask: () => Promise<ApiResponse>, intercept?: Intercept) => Promise<Run>;
  /** Deletes the resource of an ended operation; fails if that is not possible. */
  remove: (operation: OperationRecord) => Promise<void>;
  /** The state of the operation's resource; undefined if it is gone, or if the operation has none of its own. */
  stateOf: (operation: OperationRecord) => Promise<{ state: string; reason: string | null } | undefined>;
  settled: () => Promise<void>;
  /** Stops intercepting. */
  close: () => void;
}

/** Code with a module that a deploy installs. */
const CODE = { repositories: [{ url: "https://git.example/acme", ref: "main" }], install_modules: ["acme"] };

const rowOf = ({ operation }: Workflow): Transition => LIFECYCLE[operation];
export const table = Object.values(workflows).map((workflow) => ({ name: workflow.name, workflow, row: rowOf(workflow) }));

export type Row = (typeof table)[number];

/** Work on a server's machine, which leaves its status as it is: if it fails, the reason alone says so. */
export const isOnMachine = ({ resource, failed }: Transition): boolean => resource === "server" && failed === "before";

/** Returns the states from which the work can begin; undefined where it creates its resource. */
export const startsOf = ({ row }: Pick<Row, "row">): (State | undefined)[] =>
  row.from.length > 0 ? [...row.from] : [undefined, ...(row.again ?? [])];

/** Steps that run when the flags are as the tests here set them: all. */
export const undosOf = (steps: readonly (Step | Poll)[]): string[] => steps.flatMap(({ undo }) => undo ?? []).toReversed();

const Begun = z.looseObject({ id: z.string(), operation_id: z.string().nullish() });

/** The ID of the operation that a response started: its data, or the one that the new resource names. */
function begunBy(response: ApiResponse): string {
  const { id, operation_id } = response.as(Begun);
  return operation_id ?? id;
}

/** The public status of a state, which is the state itself except for servers. */
export const published = (state: string): string => (isServerPhase(state) ? SERVER_PHASES[state] : state);

export async function workflowHarness(cloud: TestCloud, options: AccountOptions = {}): Promise<WorkflowHarness> {
  const me = await account(options);
  for (const kind of ["server", "instance"] as const) await setQuota(me.id, kind, 10_000);
  const fresh = async (): Promise<Client> => (await me.token()).api;

  const interceptors = new Map<string, Intercept>();
  const tasks: Run["tasks"] = [];
  const tries = new Map<string, number>();
  const close = cloud.states.intercept(async (call: TaskCall, next) => {
    const payload = Payload.parse(call.payload);
    const intercept = interceptors.get(call.machine);
    if (intercept === undefined) return next();
    const { task } = payload;
    tasks.push({ execution: call.execution, task });
    const key = `${call.execution} ${task}`;
    tries.set(key, (tries.get(key) ?? 0) + 1);
    return intercept({ task, execution: call.execution, payload, tries: tries.get(key) ?? 0 }, (changed) =>
      next(changed === undefined ? undefined : { ...call, payload: changed }),
    );
  });
  const machineOf = (name: WorkflowName): string => {
    const machine = cloud.template.machines.find((each) => each.name.endsWith(`-${name}`));
    if (machine === undefined) throw new Error(`${name} has no state machine`);
    return machine.name;
  };

  const run: WorkflowHarness["run"] = async (workflow, ask, intercept = (_, next) => next()) => {
    interceptors.set(machineOf(workflow.name), intercept);
    tasks.length = 0;
    try {
      const id = begunBy(await ask());
      await cloud.states.settled();
      const operation = await findOperation(me.id, id);
      if (operation === undefined) throw new Error(`There is no operation ${id}`);
      expect(operation.type).toBe(workflow.operation);
      return { operation, tasks: [...tasks] };
    } finally {
      interceptors.delete(machineOf(workflow.name));
    }
  };

  /** Starts an operation and makes it fail, or not. */
  const work = async (name: WorkflowName, response: Promise<ApiResponse>, failing = false): Promise<void> => {
    await run(workflows[name], () => response, failing ? failAtFirst : undefined);
  };
  const failAtFirst: Intercept = async ({ task }, next) => {
    if (task !== "begin" && task !== "fail") throw new InjectedError("GiveUp");
    return next();
  };

  const act = async (id: string, action: string) => (await fresh()).post(`/instances/${id}/actions`, { action });

  async function server(state: State = "ready"): Promise<string> {
    if (state === "create_failed") {
      const api = await fresh();
      const newServer = (await api.post("/servers", await me.serverBody({ name: unique("fail-quota") }))).as(Server);
      await cloud.states.settled();
      return newServer.id;
    }
    const { id } = await me.server();
    if (state === "unreachable")
      for (let probe = 0; probe < FAILED_PROBES_MAX; probe++) await recordProbe(await getServer(me.id, id), { responded: false });
    if (state === "delete_failed") await work("delete-server", (await fresh()).delete(`/servers/${id}`), true);
    return id;
  }

  async function instance(state: State = "running", fields: Record<string, unknown> = {}): Promise<Instance> {
    const newInstance = await me.instance(fields);
    if (state === "stopped") await work("stop-instance", act(newInstance.id, "stop"));
    if (state === "failed") await work("restart-instance", act(newInstance.id, "restart"), true);
    return (await (await fresh()).get(`/instances/${newInstance.id}`)).as(Instance);
  }

  async function backup(state: State = "completed", of?: Instance): Promise<Backup> {
    const { id } = of ?? (await instance());
    if (options.seeded === true && state === "completed") return me.backup(id);
    const note = state === "failed" ? { note: "fail-upload" } : {};
    const api = await fresh();
    const newBackup = (await api.post(`/instances/${id}/backups`, note)).as(Backup);
    await cloud.states.settled();
    return (await api.get(`/backups/${newBackup.id}`)).as(Backup);
  }

  /** A request for the operation on a resource in the state `from`. */
  const requests: Record<WorkflowName, (api: Client, from: State | undefined) => Promise<() => Promise<ApiResponse>>> = {
    "create-server": async (api) => {
      const body = await me.serverBody();
      return () => api.post("/servers", body);
    },
    "delete-server": async (api, from) => {
      const id = await server(from);
      return () => api.delete(`/servers/${id}`);
    },
    "reboot-server": async (api) => {
      const { server_id } = await instance();
      return () => api.post(`/servers/${server_id}/actions`, { action: "reboot" });
    },
    "update-server": async (api) => {
      const { server_id } = await instance();
      return () => api.post(`/servers/${server_id}/actions`, { action: "update" });
    },
    "create-instance": async (api) => {
      const body = await me.instanceBody();
      return () => api.post("/instances", body);
    },
    "clone-instance": async (api) => {
      const source = await instance();
      const { id: backup_id } = await backup("completed", source);
      await seedBackupCode(me.id, { id: backup_id, instance_id: source.id }); // so that every step runs
      return () => api.post(`/instances/${source.id}/clone`, { name: "Copy", domain: uniqueDomain("copy"), backup_id });
    },
    "update-instance": async (api, from) => {
      const { id } = await instance(from);
      return () => api.put(`/instances/${id}`, { domain: uniqueDomain("moved"), name: "Moved" });
    },
    "start-instance": async (api, from) => {
      const { id } = await instance(from);
      return () => api.post(`/instances/${id}/actions`, { action: "start" });
    },
    "stop-instance": async (api, from) => {
      const { id } = await instance(from);
      return () => api.post(`/instances/${id}/actions`, { action: "stop" });
    },
    "restart-instance": async (api, from) => {
      const { id } = await instance(from);
      return () => api.post(`/instances/${id}/actions`, { action: "restart" });
    },
    "delete-instance": async (api, from) => {
      const { id } = await instance(from);
      return () => api.delete(`/instances/${id}`);
    },
    "create-backup": async (api) => {
      const { id } = await instance();
      return () => api.post(`/instances/${id}/backups`, { note: "A note" });
    },
    "delete-backup": async (api, from) => {
      const { id } = await backup(from);
      return () => api.delete(`/backups/${id}`);
    },
    "drill-backup": async (api, from) => {
      const { id } = await backup(from);
      return () => api.post(`/backups/${id}/drill`, {});
    },
    "import-backup": async (api, from) => {
      const source = await instance();
      const archive = await downloaded(api, (await backup("completed", source)).id);
      const { id } = await uploaded(api, archive);
      const { id: server_id } = await me.server();
      const complete = () => api.post(`/backups/uploads/${id}/complete`, { sha256: sha256Of(archive), server_id });
      if (from === undefined) return complete;
      const failed = complete();
      await work("import-backup", failed, true);
      const backupId = (await failed).as(Backup).id;
      return () => api.post(`/backups/${backupId}/import`, { server_id });
    },
    "check-code-instance": async (api, from) => {
      const { id } = await instance(from);
      await api.put(`/instances/${id}/code`, CODE);
      return () => api.post(`/instances/${id}/code/check`, {});
    },
    // Back to the first of two deploys, with its data, so that every step runs.
    "deploy-instance": async (api, from) => {
      const { id } = await instance("running", { domain: uniqueDomain("old-image.shop") });
      await api.put(`/instances/${id}/code`, CODE);
      const deploy = async (body: object) => {
        const response = api.post(`/instances/${id}/deploys`, { rehearse: false, ...body });
        await work("deploy-instance", response);
        return (await response).as(Begun).id;
      };
      const rollback_to = await deploy({ backup_first: false });
      await deploy({});
      if (from === "stopped") await work("stop-instance", act(id, "stop"));
      if (from === "failed") await work("restart-instance", act(id, "restart"), true);
      return () => api.post(`/instances/${id}/deploys`, { rollback_to, restore_database: true, update_image: true });
    },
    "run-bulk": async (api) => {
      const [{ id: running }, { id: stopped }] = [await instance(), await instance("stopped")];
      return () => api.post("/bulk", { action: "stop", select: { ids: [running, stopped] } });
    },
    "restore-backup": async (api, from) => {
      const newInstance = await instance();
      const { id } = await backup("completed", newInstance);
      if (from === "stopped") await work("stop-instance", act(newInstance.id, "stop"));
      if (from === "failed") await work("restart-instance", act(newInstance.id, "restart"), true);
      return () => api.post(`/backups/${id}/restore`, { neutralize: true });
    },
  };

  return {
    cloud,
    me,
    run,
    prepare: async ({ name }, from) => requests[name](await fresh(), from),
    settled: () => cloud.states.settled(),
    close,
    remove: async ({ resource: { type, id } }) => {
      if (type === "account") return; // a bulk action has no resource of its own
      const { id: operationId } = (await (await fresh()).delete(`/${type}s/${id}`)).as(Operation);
      await cloud.states.settled();
      expect(await findOperation(me.id, operationId)).toMatchObject({ state: "succeeded" });
    },
    stateOf: async ({ resource: { type, id } }) => (type === "account" ? undefined : stateIn(await fresh(), { type, id })),
  };
}

const Stated = z.looseObject({ status: z.string(), status_reason: z.string().nullable() });

/** The public status of a resource; undefined if the API returns 404. */
async function stateIn(
  api: Client,
  { type, id }: { type: ResourceType; id: string },
): Promise<{ state: string; reason: string | null } | undefined> {
  const response = await api.get(`/${type}s/${id}`);
  if (response.status === 404) return undefined;
  const { status, status_reason } = response.as(Stated);
  return { state: status, reason: status_reason };
}
