// The states of servers, instances, backups and operations, and what each kind of work does to them: the one table that the API,
// the workflows, the conditions of writes and the dashboard's buttons read. No other file spells a state.

export const SERVER_STATUSES = ["active", "provisioning", "offline"] as const;
export type ServerStatus = (typeof SERVER_STATUSES)[number];

export const INSTANCE_STATUSES = [
  "provisioning",
  "running",
  "stopping",
  "stopped",
  "starting",
  "restarting",
  "restoring",
  "updating",
  "failed",
  "deleting",
] as const;
export type InstanceStatus = (typeof INSTANCE_STATUSES)[number];

export const BACKUP_STATUSES = ["pending", "running", "completed", "failed", "deleting"] as const;
export type BackupStatus = (typeof BACKUP_STATUSES)[number];

/** Whether an instance's backup policy does what it says. */
export const PROTECTION_STATUSES = ["unprotected", "protected", "overdue"] as const;
export type ProtectionStatus = (typeof PROTECTION_STATUSES)[number];

/** What an instance's server last reported about the certificate of its domain. */
export const CERTIFICATE_STATUSES = ["pending", "valid", "failing"] as const;
/** There is none yet, or the server has not reported on the domain. */
export const CERTIFICATE_PENDING = "pending" satisfies (typeof CERTIFICATE_STATUSES)[number];
/** It cannot be issued or renewed, or has expired. */
export const CERTIFICATE_FAILING = "failing" satisfies (typeof CERTIFICATE_STATUSES)[number];

/** Whether the ERP of a running instance can be used; `unknown` while nothing checks it. */
export const HEALTH_STATUSES = ["ok", "failing", "unknown"] as const;
export type HealthStatus = (typeof HEALTH_STATUSES)[number];
export const HEALTH_OF_ERP = { ok: "ok", failing: "failing", unknown: "unknown" } as const satisfies {
  [S in HealthStatus]: S;
};

export const OPERATION_STATUSES = ["pending", "running", "succeeded", "failed"] as const;
export type OperationStatus = (typeof OPERATION_STATUSES)[number];

/** A delivery to a webhook is pending as long as there is a try to make. */
export const DELIVERY = { pending: "pending", delivered: "delivered", failed: "failed" } as const;
export type DeliveryStatus = keyof typeof DELIVERY;
export const DELIVERY_STATUSES = [DELIVERY.pending, DELIVERY.delivered, DELIVERY.failed] as const;

/** How far a deploy is; its operation says more. */
export const DEPLOY_STATUS = { pending: "pending", running: "running", completed: "completed", failed: "failed" } as const;
export type DeployStatus = keyof typeof DEPLOY_STATUS;
export const OPEN_DEPLOYS: readonly DeployStatus[] = [DEPLOY_STATUS.pending, DEPLOY_STATUS.running];

/** What came of a deploy's rehearsal on a copy of the data. */
export const REHEARSAL = { passed: "passed", failed: "failed", skipped: "skipped" } as const;
export type RehearsalStatus = keyof typeof REHEARSAL;

/** A restore drill failed if one of its checks did. */
export const DRILL = { passed: "passed", failed: "failed" } as const;

/** An operation is pending until its first task begins, then running until it ends in one of two ways. */
export const OPERATION = { pending: "pending", running: "running", succeeded: "succeeded", failed: "failed" } as const satisfies {
  [S in OperationStatus]: S;
};
/** How an operation ends. */
export type OperationEnd = (typeof OPERATION)["succeeded" | "failed"];

/** How far a bulk action is with one resource. */
export const ITEM_STATUSES = ["waiting", "running", "succeeded", "failed", "cancelled"] as const;
export type ItemStatus = (typeof ITEM_STATUSES)[number];
export const ITEM = {
  waiting: "waiting",
  running: "running",
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
} as const satisfies { [S in ItemStatus]: S };

/** The statuses of an operation that has not ended. */
export const OPEN_STATUSES = [OPERATION.pending, OPERATION.running] as const;
export const isOpen = (status: OperationStatus): boolean => OPEN_STATUSES.some((open) => open === status);

/** Every action on an instance; `allowed_actions` lists those that are possible now. */
export const INSTANCE_ACTIONS = ["start", "stop", "restart", "backup", "restore", "deploy", "update", "delete"] as const;
export type InstanceAction = (typeof INSTANCE_ACTIONS)[number];

/** Behind a server's three public statuses is a phase. */
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

/** What users see of a server's phase; one that only a newer version knows is shown as it is. */
export const serverStatus = (phase: ServerPhase): ServerStatus => (isServerPhase(phase) ? SERVER_PHASES[phase] : phase);

/** What users see of a resource's state. */
export const statusOf = (type: OperatedType, state: string): string =>
  type === "server" && isServerPhase(state) ? SERVER_PHASES[state] : state;

/** What operations change. */
export const RESOURCE_TYPES = ["server", "instance", "backup"] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];
/** A bulk action runs on an account, whose state it does not change. */
export const OPERATED_TYPES = [...RESOURCE_TYPES, "account"] as const;
export type OperatedType = (typeof OPERATED_TYPES)[number];
interface StateOf {
  server: ServerPhase;
  instance: InstanceStatus;
  backup: BackupStatus;
  account: never;
}
export type State = StateOf[ResourceType];

/** One row: the work on a resource, the states it may start from, and where it leads. */
export interface Transition<R extends OperatedType = OperatedType> {
  resource: R;
  /** Empty for operations that create the resource. */
  from: readonly StateOf[R][];
  /** The states in which the work that creates the resource may be tried again. */
  again?: readonly StateOf[R][];
  through: StateOf[R] | "unchanged";
  /** The state that the work's first task moves it to, if that is another one. */
  begun?: StateOf[R];
  /** The state that one of its steps moves it to, until the work ends. */
  during?: StateOf[R];
  /** `before`: the state that the work began in. */
  to: StateOf[R] | "gone" | "before";
  failed: StateOf[R] | "before";
  /** The work only reads the resource: whatever becomes of it, the resource is as it was. */
  intact?: true;
}

const server = <const T extends Omit<Transition<"server">, "resource">>(row: T) => ({ resource: "server" as const, ...row });
const instance = <const T extends Omit<Transition<"instance">, "resource">>(row: T) => ({
  resource: "instance" as const,
  ...row,
});
const backup = <const T extends Omit<Transition<"backup">, "resource">>(row: T) => ({ resource: "backup" as const, ...row });

/**
 * The resource of an operation is the one whose state it moves. A backup in progress locks its instance too (`BACKED_UP`),
 * and a reader of an archive prevents its deletion.
 */
export const LIFECYCLE = {
  "server.create": server({ from: [], through: "creating", to: "ready", failed: "create_failed" }),
  "server.delete": server({
    from: ["ready", "unreachable", "create_failed", "delete_failed"],
    through: "deleting",
    to: "gone",
    failed: "delete_failed",
  }),
  "server.reboot": server({ from: ["ready"], through: "unchanged", to: "before", failed: "before" }),
  "server.update": server({ from: ["ready"], through: "unchanged", to: "before", failed: "before" }),
  "instance.create": instance({ from: [], through: "provisioning", to: "running", failed: "failed" }),
  "instance.update": instance({ from: ["running", "stopped"], through: "unchanged", to: "before", failed: "before" }),
  "instance.clone": instance({ from: [], through: "provisioning", to: "running", failed: "failed" }),
  "instance.start": instance({ from: ["stopped", "failed"], through: "starting", to: "running", failed: "failed" }),
  "instance.stop": instance({ from: ["running"], through: "stopping", to: "stopped", failed: "running" }),
  "instance.restart": instance({ from: ["running", "failed"], through: "restarting", to: "running", failed: "failed" }),
  "instance.delete": instance({ from: ["running", "stopped", "failed"], through: "deleting", to: "gone", failed: "failed" }),
  "backup.create": backup({ from: [], through: "pending", begun: "running", to: "completed", failed: "failed" }),
  "backup.import": backup({
    from: [],
    again: ["failed"],
    through: "pending",
    begun: "running",
    to: "completed",
    failed: "failed",
  }),
  "backup.delete": backup({ from: ["completed", "failed"], through: "deleting", to: "gone", failed: "failed" }),
  "backup.drill": backup({ from: ["completed"], through: "unchanged", to: "before", failed: "before", intact: true }),
  "backup.restore": instance({ from: ["running", "stopped", "failed"], through: "restoring", to: "before", failed: "before" }),
  "instance.check_code": instance({
    from: ["running", "stopped", "failed"],
    through: "unchanged",
    to: "before",
    failed: "before",
    intact: true,
  }),
  "instance.deploy": instance({
    from: ["running", "stopped", "failed"],
    through: "unchanged",
    during: "updating",
    to: "before",
    failed: "before",
  }),
  "bulk.run": { resource: "account", from: [], through: "unchanged", to: "before", failed: "before", intact: true },
} as const satisfies Record<`${ResourceType | "bulk"}.${string}`, Transition>;

export type OperationType = keyof typeof LIFECYCLE;
const isOperationType = (name: string): name is OperationType => Object.hasOwn(LIFECYCLE, name);
export const OPERATION_TYPES: readonly OperationType[] = Object.keys(LIFECYCLE).filter(isOperationType);

/** Whether this version can carry the operation on. */
export const isKnownOperation = ({ type, state }: { type: OperationType; state: OperationStatus }): boolean =>
  isOperationType(type) && OPERATION_STATUSES.includes(state);

/** Each kind of work has a workflow of the same words: `server.create` is done by `create-server`. */
type WorkflowOf<T> = T extends `${infer Resource}.${infer Verb}` ? `${Hyphenated<Verb>}-${Resource}` : never;
type Hyphenated<Verb extends string> = Verb extends `${infer First}_${infer Rest}` ? `${First}-${Hyphenated<Rest>}` : Verb;
export type WorkflowName = WorkflowOf<OperationType>;

export const workflowOf = <T extends OperationType>(type: T): WorkflowOf<T> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the type says of the text
  type.split(".").toReversed().join("-").replaceAll("_", "-") as WorkflowOf<T>;

/** All workflows. */
export const WORKFLOW_NAMES: readonly WorkflowName[] = OPERATION_TYPES.map((type) => workflowOf(type));

/** Instances can be backed up in these states; a hot backup does not change them. */
const BACKED_UP: readonly InstanceStatus[] = ["running", "stopped"];

/** The note and the lock of a backup can be changed unless it is being deleted. */
export const EDITABLE: readonly BackupStatus[] = ["pending", "running", "completed", "failed"];

/** A scheduled backup that waits for a slot on its server, before any operation begins it. */
export const BACKUP_WAITING: BackupStatus = LIFECYCLE["backup.create"].through;

/** A backup whose archive can be restored, cloned from and downloaded. */
export const RESTORABLE: readonly BackupStatus[] = ["completed"];

/** An instance in which people (in the sandbox: the data endpoint) can write. */
export const WRITABLE: readonly InstanceStatus[] = ["running", "stopped"];

/** An instance whose ERP responds, so that work on it may interrupt people. */
export const SERVING: readonly InstanceStatus[] = ["running"];

/** An instance that can be renamed: all but one that is being deleted. */
export const INSTANCE_RENAMABLE: readonly InstanceStatus[] = INSTANCE_STATUSES.filter(
  (status) => status !== LIFECYCLE["instance.delete"].through,
);

/** Phases in which a server can be renamed: not while it is being created or deleted. */
export const SERVER_RENAMABLE: readonly ServerPhase[] = ["ready", "unreachable", "create_failed", "delete_failed"];

/** A server on which work can be done. */
export const USABLE: readonly ServerPhase[] = ["ready"];

/** What can be done with a server's own machine. */
export const SERVER_ACTIONS = ["reboot", "update"] as const;
export type ServerAction = (typeof SERVER_ACTIONS)[number];

/** Phases with health checks; in the others an operation takes care of the server, or it has no machine. */
export const WATCHED: readonly ServerPhase[] = ["ready", "unreachable"];

/** The phases that a health check leads to: `ready` while the machine responds, `unreachable` once it has not for too long. */
export const HEALTH = { responds: "ready", silent: "unreachable" } as const satisfies Record<string, ServerPhase>;

/**
 * The state of a resource whose work failed and could not be undone, undefined for the one that it had; it says that something is
 * wrong, also where a failure goes unseen.
 */
export function abandonedState(type: OperationType): State | undefined {
  const row: Transition = LIFECYCLE[type];
  if (row.intact) return undefined;
  switch (row.resource) {
    case "server":
      if (row.failed === "before") return undefined; // its health checks say how it is
      return row.failed === "delete_failed" ? "delete_failed" : "create_failed";
    case "instance":
    case "backup":
      return "failed";
    case "account":
      return undefined;
    default:
      throw new Error(`No such kind of resource: ${String(row.resource satisfies never)}`);
  }
}

/** What a phase is called to users, who are not shown it. */
const PHASE_WORDS: Record<ServerPhase, string> = {
  creating: "being created",
  ready: "active",
  unreachable: "offline",
  create_failed: "offline",
  deleting: "being deleted",
  delete_failed: "offline",
};

export const phaseInWords = (phase: ServerPhase): string => (isServerPhase(phase) ? PHASE_WORDS[phase] : phase);

const isInstanceStatus = (state: string): state is InstanceStatus => INSTANCE_STATUSES.some((each) => each === state);

const OPERATION_OF: Record<InstanceAction, OperationType> = {
  start: "instance.start",
  stop: "instance.stop",
  restart: "instance.restart",
  backup: "backup.create",
  restore: "backup.restore",
  deploy: "instance.deploy",
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
interface InstanceFacts {
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

/** Whether a state says that something failed: only such a state keeps a reason. */
export const isFailure = (state: string): boolean => state.endsWith("failed");

/** Work that starts the ERP with other data or other code. */
const REVIVING: readonly OperationType[] = ["backup.restore", "instance.deploy"];

/** A restore or a deploy ends in the state it began in; but what had failed runs again once it has succeeded. */
export const afterSuccess = (type: OperationType, before: string): string =>
  REVIVING.includes(type) && before === "failed" ? "running" : before;
