// What a bulk action needs: to begin, and to pause or cancel.
import type { BulkResult } from "../../../shared/api/operations.ts";
import { BACKUP_NEEDS, INSTANCE_NEEDS, SERVER_NEEDS } from "../allowed/needs.ts";
import type { Need } from "../app/may.tsx";

type Needs = Readonly<Record<string, readonly Need[]>>;

const NEEDS: Record<BulkResult["type"], Needs> = { instance: INSTANCE_NEEDS, backup: BACKUP_NEEDS, server: SERVER_NEEDS };

export function bulkNeeds({ type, action, parameters }: BulkResult): Need[] {
  const needs = NEEDS[type][action] ?? [];
  return parameters["with_backups"] === true ? [...needs, ...BACKUP_NEEDS.delete] : [...needs];
}
