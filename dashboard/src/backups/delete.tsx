// Asks before a backup is deleted.
import { useMutation } from "@tanstack/react-query";
import type { Backup } from "../../../shared/api/backups.ts";
import { client } from "../app/client.ts";
import { Ask } from "../resource/ask.tsx";
import { momentOf } from "./words.ts";

export function DeleteBackup({ backup, onDismiss }: { backup: Backup; onDismiss: () => void }) {
  const deletion = useMutation({
    mutationFn: () => client.backups.delete({ params: { id: backup.id } }),
    onSuccess: onDismiss,
  });
  return (
    <Ask
      title="Delete backup"
      confirm="Delete backup"
      pending={deletion.isPending}
      error={deletion.error}
      onConfirm={() => deletion.mutate()}
      onDismiss={onDismiss}
    >
      The backup of {backup.instance_name} from {momentOf(backup)} will be permanently deleted. You can't undo this.
    </Ask>
  );
}
