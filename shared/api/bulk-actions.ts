// The actions that can run on many resources at once: for each the permissions that it needs, and what its parameters are.
import * as z from "zod";
import { RESOURCE_TYPES, type ResourceType } from "../domain/lifecycle.ts";
import { LABELS_MAX } from "../domain/limits.ts";
import { update as setPolicy } from "./backup-policy.ts";
import { create as createBackup, drill as drillBackup } from "./backups.ts";
import { deployChoices } from "./deploy-choices.ts";
import * as fields from "./fields.ts";
import type { Permission } from "./permissions.ts";

interface BulkAction {
  permissions: (parameters: Record<string, unknown>) => readonly Permission[];
  /** Made when needed, like endpoints: each is the body of the request for one resource. */
  parameters: () => z.ZodType<Record<string, unknown>>;
}

const NO_PARAMETERS = () => z.strictObject({});
const needing = (permission: Permission, parameters: BulkAction["parameters"] = NO_PARAMETERS): BulkAction => ({
  permissions: () => [permission],
  parameters,
});

/** The whole map, or a change that leaves each resource's other labels as they are. */
const labels = () =>
  z
    .strictObject({
      labels: fields.labels.optional(),
      add: fields.labels.optional(),
      remove: z
        .array(z.string().max(63, "must have at most 63 characters"))
        .max(LABELS_MAX, `must have at most ${LABELS_MAX} entries`)
        .optional(),
    })
    .check(({ value, issues }) => {
      const changes = value.add !== undefined || value.remove !== undefined;
      if (changes === (value.labels !== undefined))
        issues.push({ code: "custom", path: ["labels"], message: "either labels, or add and remove are required", input: value });
    });

const BULK_ACTIONS = {
  instance: {
    start: needing("instances:actions"),
    stop: needing("instances:actions"),
    restart: needing("instances:actions"),
    backup: needing("backups:write", () => createBackup().body),
    deploy: needing("instances:write", deployChoices),
    set_policy: needing("backups:write", () => setPolicy().body),
    delete_policy: needing("backups:write"),
    set_labels: needing("instances:write", labels),
    delete: {
      permissions: ({ with_backups }) => (with_backups === true ? ["instances:write", "backups:write"] : ["instances:write"]),
      parameters: () => z.strictObject({ with_backups: z.boolean().default(false) }),
    },
  },
  backup: {
    lock: needing("backups:write"),
    unlock: needing("backups:write"),
    delete: needing("backups:write"),
    drill: needing("backups:restore", () => drillBackup().body),
    set_labels: needing("backups:write", labels),
  },
  server: {
    reboot: needing("servers:write"),
    update: needing("servers:write"),
    set_labels: needing("servers:write", labels),
  },
} as const satisfies Record<ResourceType, Record<string, BulkAction>>;

const TABLE: Record<ResourceType, Readonly<Record<string, BulkAction>>> = BULK_ACTIONS;

export const bulkAction = (type: ResourceType, action: string): BulkAction | undefined =>
  Object.hasOwn(TABLE[type], action) ? TABLE[type][action] : undefined;

/** The names of a type's actions. */
export const bulkActionsOf = (type: ResourceType): string[] => Object.keys(TABLE[type]);

export const BULK_ACTION_NAMES: readonly string[] = [...new Set(RESOURCE_TYPES.flatMap(bulkActionsOf))];
