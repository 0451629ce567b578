// The allowed actions for a server's status, and the reasons against the others, from the same table that the API checks.
import type { ListedServer } from "../../../shared/api/servers.ts";
import {
  isServerPhase,
  LIFECYCLE,
  SERVER_RENAMABLE,
  SERVER_PHASES,
  SERVER_STATUSES,
  type ServerPhase,
  USABLE,
} from "../../../shared/domain/lifecycle.ts";
import { text } from "../messages/text.ts";

/** The API publishes a status, which stands for these phases; whether an operation locks the server tells which. */
export const phasesOf = ({ status, operation_id }: ListedServer): ServerPhase[] =>
  Object.keys(SERVER_PHASES)
    .filter(isServerPhase)
    .filter((phase) => SERVER_PHASES[phase] === status)
    .filter((phase) => (operation_id === null ? !isHeldIn(phase) : isHeldIn(phase) || USABLE.includes(phase)));

const isHeldIn = (phase: ServerPhase): boolean =>
  LIFECYCLE["server.create"].through === phase || LIFECYCLE["server.delete"].through === phase;

export function whyNotRename(server: ListedServer): string | undefined {
  return phasesOf(server).some((phase) => SERVER_RENAMABLE.includes(phase)) ? undefined : whyNone(server);
}

export function whyNotAct(server: ListedServer): string | undefined {
  if (!phasesOf(server).some((phase) => USABLE.includes(phase)))
    return server.operation_id === null ? text.allowed.server.notActive : whyNone(server);
  return server.operation_id === null ? undefined : text.allowed.busy;
}

const whyNone = ({ status }: ListedServer): string =>
  SERVER_STATUSES.includes(status) ? text.allowed.busy : text.allowed.unknownStatus(status);

export function whyNotDelete(server: ListedServer, instances: number | undefined): string | undefined {
  const from: readonly ServerPhase[] = LIFECYCLE["server.delete"].from;
  if (!phasesOf(server).some((phase) => from.includes(phase))) return whyNone(server);
  if (server.operation_id !== null) return text.allowed.busy;
  if (instances === undefined) return text.allowed.server.checking;
  return instances > 0 ? text.allowed.server.instances(instances) : undefined;
}
