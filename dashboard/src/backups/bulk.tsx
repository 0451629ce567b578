// What can be done with many backups at once.
import type { Backup } from "../../../shared/api/backups.ts";
import { whyNotDelete, whyNotDrill, whyNotEdit } from "../allowed/backups.ts";
import { BACKUP_NEEDS } from "../allowed/needs.ts";
import { BulkMenu, type Kind } from "../bulk/menu.tsx";
import { text } from "../messages/text.ts";
import { useRunning } from "../operations/watch.ts";
import { backupName } from "./words.ts";

export function BackupsBulk({ selected, onDone }: { selected: readonly Backup[]; onDone: () => void }) {
  const running = useRunning();
  const kind: Kind<Backup> = {
    one: "backup",
    needs: BACKUP_NEEDS,
    nameOf: backupName,
    actions: [
      ["lock", (backup) => whyNotEdit(backup) ?? (backup.locked ? text.bulk.alreadyLocked : undefined)],
      ["unlock", (backup) => whyNotEdit(backup) ?? (backup.locked ? undefined : text.bulk.notLocked)],
      ["drill", whyNotDrill],
      ["set_labels", whyNotEdit],
      ["delete", (backup) => whyNotDelete(backup, running)],
    ],
  };
  return <BulkMenu kind={kind} selected={selected} onDone={onDone} />;
}
