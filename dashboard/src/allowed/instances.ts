// The allowed actions for an instance's status and its server's, and the reasons against the others, from the same table that the API checks.
import type { ListedInstance } from "../../../shared/api/instances.ts";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { LIFECYCLE, statesFor, USABLE, type InstanceAction } from "../../../shared/domain/lifecycle.ts";
import { text } from "../messages/text.ts";
import { shownOf } from "../resource/status.tsx";
import { phasesOf } from "./servers.ts";

const FAILED = LIFECYCLE["instance.create"].failed;

/** Every operation needs the server, except deletion, which then removes the record alone. */
export function whyNot(action: InstanceAction, instance: ListedInstance, server: ListedServer | undefined): string | undefined {
  if (instance.operation_id !== null) return text.allowed.busy;
  const states = statesFor(action);
  if (!states.includes(instance.status)) return text.allowed.instance.status(action, wordOf(instance.status), states.map(wordOf));
  if (action === "delete") return undefined;
  if (server === undefined) return undefined; // while the server is not loaded, the API decides
  if (!isUsable(server)) return text.allowed.instance.server(server.name, shownOf("server", server.status).word);
  return instance.status === FAILED && !instance.allowed_actions.includes(action)
    ? text.allowed.instance.neverInstalled
    : undefined;
}

/** Changing the name and email needs no operation on the server. */
export const whyNotEdit = ({ status }: ListedInstance): string | undefined =>
  status === LIFECYCLE["instance.delete"].through ? text.allowed.instance.deleting : undefined;

export const isUsable = (server: ListedServer): boolean => phasesOf(server).some((phase) => USABLE.includes(phase));

const wordOf = (status: ListedInstance["status"]): string => shownOf("instance", status).word;
