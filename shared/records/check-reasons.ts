// The checks of a restore drill with the codes of their sentences.
import type { Drill } from "../api/drill.ts";
import { reasonOf } from "../domain/reasons.ts";

export const withReasons = ({ checks, ...drill }: Drill): Drill => ({
  ...drill,
  checks: checks.map((check) => ({ ...check, reason: reasonOf(check.detail) })),
});
