// What a restore and a clone must choose: the database, the files, or both.
import type * as z from "zod";

/** What `nothingToRestore` rejects, for the OpenAPI document. */
export const NOTHING_TO_RESTORE = {
  properties: { restore_database: { const: false }, restore_filestore: { const: false } },
  required: ["restore_database", "restore_filestore"],
};

/** A copy of neither the database nor the files is a new instance, not a clone or a restore. */
export function nothingToRestore(context: z.core.ParsePayload<{ restore_database: boolean; restore_filestore: boolean }>) {
  if (!context.value.restore_database && !context.value.restore_filestore)
    context.issues.push({
      code: "custom",
      path: ["restore_database"],
      message: "restore_database and restore_filestore cannot both be false",
      input: context.value.restore_database,
    });
}
