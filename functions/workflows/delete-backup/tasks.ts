// What the step of deleting a backup does.
import { tasks } from "../../../shared/runtime/tasks.ts";
import { archiveKey } from "../../../shared/storage/archive-key.ts";
import { removeArchive } from "../../../shared/storage/archives.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  deleteArchive: async ({ backup }) => removeArchive(archiveKey(await backup())),
});
