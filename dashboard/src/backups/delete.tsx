// Asks before a backup is deleted.
import type { Backup } from "../../../shared/api/backups.ts";
import { client } from "../app/client.ts";
import { Deletion } from "../resource/deletion.tsx";
import { momentOf } from "./words.ts";

export function DeleteBackup({ backup, onDismiss }: { backup: Backup; onDismiss: () => void }) {
  return (
    <Deletion
      title="Delete backup"
      confirm="Delete backup"
      send={() => client.backups.delete({ params: { id: backup.id } })}
      rehearse={() => client.backups.delete.dryRun({ params: { id: backup.id } })}
      onDeleted={onDismiss}
      onDismiss={onDismiss}
    >
      The backup of {backup.instance_name} from {momentOf(backup)} will be permanently deleted. You can't undo this.
    </Deletion>
  );
}
