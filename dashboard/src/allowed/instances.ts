// The allowed actions for an instance's status and its server's, and the reasons against the others, from the same table that the API checks.
import type { Instance } from "../../../shared/api/instances.ts";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { LIFECYCLE, statesFor, USABLE, type InstanceAction } from "../../../shared/domain/lifecycle.ts";
import { shownOf } from "../resource/status.tsx";
import { BUSY, phasesOf } from "./servers.ts";

const DONE: Record<InstanceAction, string> = {
  start: "started",
  stop: "stopped",
  restart: "restarted",
  backup: "backed up",
  restore: "restored",
  update: "moved to another domain",
  delete: "deleted",
};

const FAILED = LIFECYCLE["instance.create"].failed;

/** Every operation needs the server, except deletion, which then removes the record alone. */
export function whyNot(action: InstanceAction, instance: Instance, server: ListedServer | undefined): string | undefined {
  if (instance.operation_id !== null) return BUSY;
  const states = statesFor(action);
  if (!states.includes(instance.status))
    return `Can't be ${DONE[action]} while ${wordOf(instance.status)}. The instance must be ${inWords(states)}.`;
  if (action === "delete") return undefined;
  if (server === undefined) return undefined; // while the server is not loaded, the API decides
  if (!isUsable(server)) return `Its server ${server.name} is ${server.status}. It must be active.`;
  return instance.status === FAILED && !instance.allowed_actions.includes(action)
    ? "Odoo was never installed. Delete this instance and create another."
    : undefined;
}

/** Changing the name and email needs no operation on the server. */
export const whyNotEdit = ({ status }: Instance): string | undefined =>
  status === LIFECYCLE["instance.delete"].through ? "This instance is being deleted." : undefined;

export const isUsable = (server: ListedServer): boolean => phasesOf(server).some((phase) => USABLE.includes(phase));

const wordOf = (status: Instance["status"]): string => shownOf("instance", status).word.toLowerCase();

const orList = new Intl.ListFormat("en", { type: "disjunction" });
const inWords = (states: readonly Instance["status"][]): string => orList.format(states.map(wordOf));
