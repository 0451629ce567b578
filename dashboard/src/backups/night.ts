// What became of a day's backups.
import type { Backup } from "../../../shared/api/backups.ts";
import type { Drill } from "../../../shared/api/drill.ts";
import { DRILL } from "../../../shared/domain/lifecycle.ts";

export type Seen = Pick<Backup, "status" | "created_at"> & { drill?: Pick<Drill, "status"> | null };

/** What became of a day, and the backup that says so. */
export interface Night<B> {
  kind: "completed" | "failed" | "drillFailed" | "running" | "none" | "unknown";
  backup: B | undefined;
}

/** The best of a day's backups counts, but a failed drill comes before all. */
export function nightOf<B extends Seen>(backups: readonly B[]): Night<B> {
  const kinds = backups.map((backup) => ({ kind: kindOf(backup), backup }));
  const night = (["drillFailed", "completed", "running", "failed"] as const)
    .map((kind) => kinds.find((each) => each.kind === kind))
    .find((each) => each !== undefined);
  return night ?? { kind: "none", backup: undefined };
}

function kindOf({ status, drill }: Seen): Night<Seen>["kind"] {
  if (status === "failed") return "failed";
  if (status !== "completed") return "running";
  return drill?.status === DRILL.failed ? "drillFailed" : "completed";
}

/** Days are compared by their date: one of 23 or 25 hours is one day, too. */
export const dayOf = (at: Date): string => `${at.getFullYear()}-${at.getMonth()}-${at.getDate()}`;
