// The states of servers, instances and backups, and what each kind of work does to them: the one table that the API, the
// workflows, the conditions of writes and the dashboard's buttons read.
import type { BackupStatus } from "../api/backups.ts";
import { INSTANCE_ACTIONS, type InstanceAction, InstanceStatus } from "../api/instances.ts";
import type { OperationType } from "../api/operations.ts";
import type { ServerStatus } from "../api/servers.ts";

/** Behind a server's three published values stands a phase. */
export const SERVER_PHASES = {
  creating: "provisioning",
  ready: "active",
  unreachable: "offline",
  create_failed: "offline",
  deleting: "offline",
  delete_failed: "offline",
} as const satisfies Record<string, ServerStatus>;
export type ServerPhase = keyof typeof SERVER_PHASES;
export const isServerPhase = (value: unknown): value is ServerPhase =>
  typeof value === "string" && Object.hasOwn(SERVER_PHASES, value);

export type ResourceType = "server" | "instance" | "backup";
export interface StateOf {
  server: ServerPhase;
  instance: InstanceStatus;
  backup: BackupStatus;
}
export type State = StateOf[ResourceType];

/** One row: the work on a resource, the states it may start from, and where it leads. */
export interface Transition<R extends ResourceType = ResourceType> {
  resource: R;
  /** Empty for work that makes the resource. */
  from: readonly StateOf[R][];
  through: StateOf[R] | "unchanged";
  /** `before`: the state that the work began in. */
  to: StateOf[R] | "gone" | "before";
  failed: StateOf[R] | "before";
}

const server = <const T extends Omit<Transition<"server">, "resource">>(row: T) => ({ resource: "server" as const, ...row });
const instance = <const T extends Omit<Transition<"instance">, "resource">>(row: T) => ({
  resource: "instance" as const,
  ...row,
});
const backup = <const T extends Omit<Transition<"backup">, "resource">>(row: T) => ({ resource: "backup" as const, ...row });

/**
 * The resource of an operation is the one whose state it moves. A backup being made holds its instance too (`BACKED_UP`),
 * and whoever reads an archive keeps it from deletion.
 */
export const LIFECYCLE = {
  "server.create": server({ from: [], through: "creating", to: "ready", failed: "create_failed" }),
  "server.delete": server({
    from: ["ready", "unreachable", "create_failed", "delete_failed"],
    through: "deleting",
    to: "gone",
    failed: "delete_failed",
  }),
  "instance.create": instance({ from: [], through: "provisioning", to: "running", failed: "failed" }),
  "instance.clone": instance({ from: [], through: "provisioning", to: "running", failed: "failed" }),
  "instance.start": instance({ from: ["stopped", "failed"], through: "starting", to: "running", failed: "failed" }),
  "instance.stop": instance({ from: ["running"], through: "stopping", to: "stopped", failed: "running" }),
  "instance.restart": instance({ from: ["running", "failed"], through: "restarting", to: "running", failed: "failed" }),
  "instance.update": instance({ from: ["running", "stopped"], through: "unchanged", to: "before", failed: "before" }),
  "instance.delete": instance({ from: ["running", "stopped", "failed"], through: "deleting", to: "gone", failed: "failed" }),
  "backup.create": backup({ from: [], through: "pending", to: "completed", failed: "failed" }),
  "backup.delete": backup({ from: ["completed", "failed"], through: "deleting", to: "gone", failed: "failed" }),
  "backup.restore": instance({ from: ["running", "stopped", "failed"], through: "restoring", to: "before", failed: "before" }),
} as const satisfies Record<OperationType, Transition>;

/** Instances can be backed up in these states; a hot backup does not change them. */
export const BACKED_UP: readonly InstanceStatus[] = ["running", "stopped"];

/** A backup whose archive can be restored, cloned from and downloaded. */
export const RESTORABLE: readonly BackupStatus[] = ["completed"];

/** An instance in which people (in the sandbox: the data endpoint) can write. */
export const WRITABLE: readonly InstanceStatus[] = ["running", "stopped"];

/** Phases in which a server can be renamed: not while it is being created or deleted. */
export const RENAMABLE: readonly ServerPhase[] = ["ready", "unreachable", "create_failed", "delete_failed"];

/** A server on which work can be done. */
export const USABLE: readonly ServerPhase[] = ["ready"];

const isInstanceStatus = (value: unknown): value is InstanceStatus => InstanceStatus.safeParse(value).success;

const OPERATION_OF: Record<InstanceAction, OperationType> = {
  start: "instance.start",
  stop: "instance.stop",
  restart: "instance.restart",
  backup: "backup.create",
  restore: "backup.restore",
  update: "instance.update",
  delete: "instance.delete",
};

/** The states of an instance in which an action is allowed. */
export function statesFor(action: InstanceAction): readonly InstanceStatus[] {
  if (action === "backup") return BACKED_UP;
  const row: Transition = LIFECYCLE[OPERATION_OF[action]];
  return row.from.filter((state) => isInstanceStatus(state));
}

/** What can be done without the ERP: on a server that is not active, and where it was never installed. */
export const WITHOUT_ERP: readonly InstanceAction[] = ["delete"];

/** What the actions on an instance depend on. */
export interface InstanceFacts {
  status: InstanceStatus;
  /** The operation that locks it: nothing else is allowed until it finishes. */
  heldBy: string | null;
  /** Whether its ERP was ever installed: not after a creation that failed. */
  installed: boolean;
  /** Undefined if it could not be found. */
  server: ServerPhase | undefined;
}

/** What would be accepted now. */
export function allowedActions({ status, heldBy, installed, server }: InstanceFacts): InstanceAction[] {
  if (heldBy !== null) return [];
  const hasErp = installed && server !== undefined && USABLE.includes(server);
  return INSTANCE_ACTIONS.filter((action) => statesFor(action).includes(status) && (hasErp || WITHOUT_ERP.includes(action)));
}

/** A restore ends in the state it began in; but what had failed runs again once its data is back. */
export const afterRestore = (before: string): string => (before === "failed" ? "running" : before);
