// Restore drills in the sandbox: the checks of a real one, made on the archive's contents.
import type { DrillCheck } from "../../api/drill.ts";
import { fileNameOf } from "../../providers/sandbox/machines.ts";
import type { Job, JobResult } from "../host.ts";
import { type Archived, missingFiles } from "./archive.ts";
import { countRows } from "./dump.ts";
import { shown } from "./layout.ts";
import { openArchive } from "./opened.ts";

export async function drill({ archive, note }: Job<"drill_archive">): Promise<JobResult<"drill_archive">> {
  const archived = await openArchive(archive);
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
      filesCheck(archived, archive.missing_files ?? manifest.missing_files ?? Infinity),
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

/** A file's name is the SHA-1 of its content. */
function filesCheck(archived: Archived, known: number): DrillCheck {
  const missing = missingFiles(archived);
  const listed = [...new Set(archived.database.attachments.map(({ file }) => file))];
  const [wrong, ...others] = listed.filter((file) => ![undefined, file].includes(nameOf(archived.files[file])));
  const detail = [
    ...(wrong === undefined
      ? []
      : [`${others.length + 1} of ${listed.length} files have another content, such as ${shown(wrong)}`]),
    ...(missing.length > known
      ? [`${missing.length} of ${listed.length} files are missing; ${known} were when it was made`]
      : []),
    ...(missing.length > 0 && missing.length <= known
      ? [`${missing.length} of ${listed.length} files are missing, as when it was made`]
      : []),
  ];
  const passed = wrong === undefined && missing.length <= known;
  return { name: "files", passed, detail: detail.join("; ") || `All ${listed.length} files have their content` };
}

const nameOf = (content: string | undefined): string | undefined => (content === undefined ? undefined : fileNameOf(content));
