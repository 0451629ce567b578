// Restore drills in the sandbox: the checks of a real one, made on the archive's contents.
import type { DrillCheck } from "../../api/drill.ts";
import { buildCheck } from "../../operations/backups/drills.ts";
import { hashFileName } from "../../providers/sandbox/machines.ts";
import { because } from "../../domain/reasons.ts";
import type { Job, JobResult } from "../host.ts";
import { type Archived, missingFiles } from "./archive.ts";
import { countRows } from "./dump.ts";
import { printable } from "./layout.ts";
import { openArchive } from "./opened.ts";

export async function drill({ archive, note }: Job<"drill_archive">): Promise<JobResult<"drill_archive">> {
  const archived = await openArchive(archive);
  const { manifest, database } = archived;
  const counted = countRows(database);
  const expected = manifest.rows && (note === "fail-drill" ? { ...manifest.rows, "public.sandbox_note": 2 } : manifest.rows);
  return {
    checks: [
      buildCheck("restores", true, because("check_restored")),
      buildCheck("boots", true, because("check_page_responds")),
      expected === undefined ? buildCheck("rows", null, because("check_no_counts")) : rowsCheck(expected, counted),
      filesCheck(archived, archive.missing_files ?? manifest.missing_files ?? Infinity),
    ],
  };
}

function rowsCheck(expected: Record<string, number>, counted: Record<string, number>): DrillCheck {
  const wrong = [...new Set([...Object.keys(expected), ...Object.keys(counted)])].filter(
    (table) => expected[table] !== counted[table],
  );
  const [first] = wrong;
  if (first === undefined) return buildCheck("rows", true, because("check_rows", { count: Object.keys(counted).length }));
  const rows = { table: first, rows: counted[first] ?? 0, expected: expected[first] ?? 0 };
  const count = wrong.length;
  return buildCheck(
    "rows",
    false,
    count === 1 ? because("check_table_differs", rows) : because("check_tables_differ", { count, ...rows }),
  );
}

/** A file's name is the SHA-1 of its content. */
function filesCheck(archived: Archived, listedFiles: number): DrillCheck {
  const missing = missingFiles(archived);
  const listed = [...new Set(archived.database.attachments.map(({ file }) => file))];
  const [wrong, ...others] = listed.filter((file) => ![undefined, file].includes(toFileName(archived.files[file])));
  const count = listed.length;
  const lost = missing.length > listedFiles;
  const gaps = { missing: missing.length, count, known: listedFiles };
  if (wrong === undefined) {
    if (lost) return buildCheck("files", false, because("check_files_missing_unnamed", gaps));
    return buildCheck(
      "files",
      true,
      missing.length > 0 ? because("check_files_missing_before", gaps) : because("check_files", { count }),
    );
  }
  const differing = { wrong: others.length + 1, count, name: printable(wrong) };
  if (missing.length === 0) return buildCheck("files", false, because("check_files_differ", differing));
  const both = { ...differing, ...gaps, total: count };
  return buildCheck(
    "files",
    false,
    because(lost ? "check_files_differ_and_miss_unnamed" : "check_files_differ_and_missed", both),
  );
}

const toFileName = (content: string | undefined): string | undefined =>
  content === undefined ? undefined : hashFileName(content);
