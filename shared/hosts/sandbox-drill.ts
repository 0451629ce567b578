// Restore drills in the sandbox: the checks of a real one, made on the archive's contents.
import type { DrillCheck } from "../api/drill.ts";
import { GiveUp } from "../platform/task-errors.ts";
import type { Job, JobResult } from "./host.ts";
import { countRows } from "./sandbox-dump.ts";
import { openArchive } from "./sandbox-opened.ts";

export async function drill({ archive, note }: Job<"drill_archive">): Promise<JobResult<"drill_archive">> {
  const archived = await openArchive(archive).catch((error: unknown) => {
    if (error instanceof GiveUp && error.code === "BACKUP_CORRUPT") return error;
    throw error;
  });
  if (archived instanceof GiveUp) return { checks: [{ name: "restores", passed: false, detail: archived.message }] };
  const { manifest, database } = archived;
  const counted = countRows(database);
  const expected = manifest.rows && (note === "fail-drill" ? { ...manifest.rows, "public.sandbox_note": 2 } : manifest.rows);
  return {
    checks: [
      { name: "restores", passed: true, detail: "The database was restored without an error" },
      { name: "boots", passed: true, detail: "The ERP's sign-in page responds" },
      expected === undefined
        ? { name: "rows", passed: null, detail: "The archive has no row counts" }
        : rowsCheck(expected, counted),
      { name: "files", passed: true, detail: `All ${database.attachments.length} files have their content` }, // as opening it has shown
    ],
  };
}

function rowsCheck(expected: Record<string, number>, counted: Record<string, number>): DrillCheck {
  const wrong = [...new Set([...Object.keys(expected), ...Object.keys(counted)])].filter(
    (table) => expected[table] !== counted[table],
  );
  const [first] = wrong;
  if (first === undefined)
    return { name: "rows", passed: true, detail: `All ${Object.keys(counted).length} tables have as many rows as in the backup` };
  const detail = `${wrong.length} tables differ: ${first} has ${counted[first] ?? "no"} rows instead of ${expected[first] ?? "none"}`;
  return { name: "rows", passed: false, detail };
}
