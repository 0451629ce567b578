// Asks before a backup is deleted.
import type { Backup } from "../../../shared/api/backups.ts";
import { client } from "../app/client.ts";
import { text } from "../messages/text.ts";
import { Deletion } from "../resource/dialog/deletion.tsx";
import { backupTime } from "./words.ts";

export function DeleteBackup({ backup, onDismiss }: { backup: Backup; onDismiss: () => void }) {
  const say = text.backupDialogs.delete;
  return (
    <Deletion
      of={backup.id}
      title={say.titleOf(backup, backupTime(backup))}
      confirm={say.title}
      send={() => client.backups.delete({ params: { id: backup.id } })}
      rehearse={() => client.backups.delete.dryRun({ params: { id: backup.id } })}
      onDeleted={onDismiss}
      onDismiss={onDismiss}
    >
      {say.about}
    </Deletion>
  );
}
