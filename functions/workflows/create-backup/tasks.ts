// What each step of create-backup does, and how it is undone.
import { storeArchive, requireStored } from "../../../shared/hosts/backup-archive.ts";
import { archiveKey } from "../../../shared/storage/archive-key.ts";
import { removeArchive } from "../../../shared/storage/archives.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  makeArchive: async (work) => storeArchive(work, await work.backup()),
  recordArchive: async (work) => requireStored(await work.backup()),
  deleteArchive: async (work) => removeArchive(archiveKey(await work.backup())),
});
