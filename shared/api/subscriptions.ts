// Which events a webhook is sent: names, prefixes, groups, or all of them.
import type { Permission } from "./permissions.ts";
import { permissionForEvent } from "./event-permissions.ts";
import { EVENT_TYPES } from "../domain/event-types.ts";

const OF_OPERATION = /\.(?:succeeded|failed)$/;
const isOutcome = (type: string): boolean => EVENT_TYPES[type]?.class === "outcomes";

/** `changes`: how operations ended. `alerts`: what somebody should look at, and that it is over. */
const GROUPS: Readonly<Record<string, (type: string) => boolean>> = {
  "*": () => true,
  changes: (type) => isOutcome(type) && OF_OPERATION.test(type),
  alerts: (type) =>
    (isOutcome(type) && !OF_OPERATION.test(type)) || type === "instance.overdue" || type === "backup.drill_failed",
};

const matches = (pattern: string, type: string): boolean =>
  GROUPS[pattern]?.(type) ?? (pattern.endsWith(".*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern);

/** A pattern that no type of event matches is a mistake. */
export const isPattern = (pattern: string): boolean =>
  Object.hasOwn(GROUPS, pattern) || Object.keys(EVENT_TYPES).some((type) => matches(pattern, type));

export const isSubscribed = (patterns: readonly string[], type: string): boolean =>
  patterns.some((pattern) => matches(pattern, type));

const ALL_KINDS = ["servers:read", "instances:read", "backups:read"] as const satisfies readonly Permission[];

/** The read permission of every kind of resource that these events are about: a webhook is sent whole records. */
export function permissionsFor(patterns: readonly string[]): readonly Permission[] {
  const needed = new Set(patterns.flatMap(permissionsForPattern));
  return ALL_KINDS.filter((permission) => needed.has(permission));
}

function permissionsForPattern(pattern: string): readonly Permission[] {
  if (Object.hasOwn(GROUPS, pattern)) return ALL_KINDS;
  const types = Object.entries(EVENT_TYPES).filter(([type]) => matches(pattern, type));
  // An alert is about a server or an instance.
  if (types.some(([type]) => type.startsWith("alert."))) return ["servers:read", "instances:read"];
  // The prefix of a kind needs that kind alone. Of `backup.*`, restores are about instances: only who may also read those is sent
  // them.
  const typesOfKind = types.filter(([, { about }]) => pattern === `${about}.*`);
  return (typesOfKind.length === 0 ? types : typesOfKind).map(([type, { about }]) => permissionForEvent(type, about));
}
