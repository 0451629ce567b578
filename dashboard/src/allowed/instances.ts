// The allowed actions for an instance's status and its server's, and the reasons against the others, from the same table that the
// API checks.
import type { ListedInstance } from "../../../shared/api/instances.ts";
import type { ListedServer } from "../../../shared/api/servers.ts";
import {
  INSTANCE_RENAMABLE,
  LIFECYCLE,
  SERVER_PHASES,
  statesFor,
  USABLE,
  type InstanceAction,
} from "../../../shared/domain/lifecycle.ts";
import { text } from "../messages/text.ts";
import { shownOf } from "../resource/words/status.tsx";

/** What the rules need to know of an instance. */
type RuledInstance = Omit<ListedInstance, "server">;
/** The same of its server. */
export type ServerOf = Pick<ListedServer, "name" | "status"> & Partial<Pick<ListedServer, "name_unicode">>;

/** The status that an action leads to: in it, the action has nothing to do. */
const AFTER: Partial<Record<InstanceAction, "running" | "stopped">> = { start: "running", stop: "stopped" };

const FAILED = LIFECYCLE["instance.create"].failed;

/** Every operation needs the server, except deletion, which then removes the record alone. */
export function whyNot(action: InstanceAction, instance: RuledInstance, server: ServerOf | undefined): string | undefined {
  if (instance.operation_id !== null) return text.allowed.busy;
  if (instance.status === AFTER[action]) return text.allowed.instance.already[instance.status];
  const states = statesFor(action);
  if (!states.includes(instance.status)) return text.allowed.instance.status(action, wordOf(instance.status), states.map(wordOf));
  if (action === "delete") return undefined;
  if (server === undefined) return undefined; // while the server is not loaded, the API decides
  if (!isUsable(server)) {
    const { name, name_unicode = name, status: serverStatus } = server;
    return text.allowed.instance.server(name_unicode, shownOf("server", serverStatus).word);
  }
  return whyNotProtect(instance, server);
}

/** A backup policy can be set in any status, but where nothing was installed it would never back up anything. */
export const whyNotProtect = (instance: RuledInstance, server: ServerOf | undefined): string | undefined =>
  isNeverInstalled(instance, server) ? text.allowed.instance.neverInstalled : undefined;

/**
 * What fails after its installation can be started again, unless its server is not active; until it is loaded, the server is
 * taken for active.
 */
export const isNeverInstalled = (
  { status, operation_id, allowed_actions }: RuledInstance,
  server: ServerOf | undefined,
): boolean =>
  status === FAILED &&
  operation_id === null &&
  allowed_actions.includes("delete") && // there are none while work on its server's machine holds that
  !allowed_actions.includes("start") &&
  (server === undefined || isUsable(server));

/** Creating it again deletes it, so only where nothing was installed for certain: an offline server may still have its ERP. */
export const canCreateAgain = ({ server, ...instance }: ListedInstance): boolean =>
  server !== null && isNeverInstalled(instance, server);

/** Changing the name and email needs no operation on the server. */
export function whyNotEdit({ status }: RuledInstance): string | undefined {
  if (INSTANCE_RENAMABLE.includes(status)) return undefined;
  return status === LIFECYCLE["instance.delete"].through ? text.allowed.instance.deleting : text.allowed.unknownStatus(status);
}

export const isUsable = ({ status }: Pick<ServerOf, "status">): boolean =>
  USABLE.some((phase) => SERVER_PHASES[phase] === status);

const wordOf = (status: RuledInstance["status"]): string => shownOf("instance", status).word;
