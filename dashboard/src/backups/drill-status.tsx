// What the restore drill of a backup found, in a word.
import type { Drill } from "../../../shared/api/drill.ts";
import { Status } from "../resource/words/status.tsx";

/** "Passed" or "Failed", or that there was none. */
export const DrillStatus = ({ drill }: { drill: Pick<Drill, "status"> | null }) =>
  drill === null ? "–" : <Status of="drill" status={drill.status} />;
