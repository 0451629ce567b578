// What the step of delete-backup does.
import { archiveKey } from "../../../shared/storage/archive-key.ts";
import { removeArchive } from "../../../shared/storage/archives.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  deleteArchive: async (work) => removeArchive(archiveKey(await work.backup())),
});
