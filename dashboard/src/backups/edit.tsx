// The dialog that changes a backup's note and locks it.
import Checkbox from "@cloudscape-design/components/checkbox";
import { api } from "../../../shared/api/index.ts";
import type { Backup } from "../../../shared/api/backups.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { FormDialog } from "../resource/form-dialog.tsx";
import { TextField } from "../resource/form.tsx";
import { given, useForm } from "../resource/use-form.ts";
import { momentOf } from "./words.ts";

export function EditBackup({ backup, onDismiss }: { backup: Backup; onDismiss: () => void }) {
  const form = useForm({
    of: backup.id,
    initial: { note: backup.note ?? "", locked: backup.locked },
    schema: api.backups.update.body,
    body: ({ note, locked }) => ({ note: given(note) ?? null, locked }),
    send: (body) => client.backups.update({ params: { id: backup.id }, body }),
    done: ({ data }) => {
      notify({ id: backup.id, type: "success", header: `Backup changed: ${data.instance_name}, ${momentOf(data)}` });
      onDismiss();
    },
  });
  return (
    <FormDialog
      title={`Edit the backup of ${backup.instance_name}, ${momentOf(backup)}`}
      form={form}
      submit="Save changes"
      onDismiss={onDismiss}
    >
      <TextField label="Note" optional description="What this backup is for." {...form.text("note")} />
      <Checkbox
        checked={form.values.locked}
        description="Nobody can delete a locked backup, and it doesn't expire."
        onChange={({ detail }) => form.set({ locked: detail.checked })}
      >
        Locked
      </Checkbox>
    </FormDialog>
  );
}
