// The dialog that changes a backup's note and labels, and locks it.
import Checkbox from "@cloudscape-design/components/checkbox";
import { update, type Backup } from "../../../shared/api/backups.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { backups } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { TextField } from "../resource/form/form.tsx";
import { labelsToText } from "../resource/list/labels.tsx";
import { LabelsField, labelsIn, mergedLabels } from "../resource/form/labels-field.tsx";
import { useEditForm } from "../resource/form/use-edit-form.ts";
import { textOrUndefined } from "../resource/form/use-form.ts";
import { backupTime } from "./words.ts";

const { body } = update();

export function EditBackup({ backup, onDismiss }: { backup: Backup; onDismiss: () => void }) {
  const say = text.backupDialogs.edit;
  const form = useEditForm({
    of: backup.id,
    record: backup,
    question: backups.one(backup.id),
    values: ({ note, locked, labels }) => ({ note: note ?? "", locked, labels: labelsToText(labels) }),
    describe: ({ note, locked, labels }) => ({
      [say.note]: note,
      [say.locked]: locked ? text.resource.conflict.yes : text.resource.conflict.no,
      [text.resource.labels.title]: labels,
    }),
    merge: mergedLabels,
    schema: body,
    body: ({ note, locked, labels }) => ({ note: textOrUndefined(note) ?? null, locked, labels: labelsIn(labels) }),
    send: (body, version) => client.backups.update({ params: { id: backup.id }, body, ...version }),
    unchanged: onDismiss,
    done: ({ data }) => {
      notify({
        id: backup.id,
        type: "success",
        header: say.saved(data, backupTime(data)),
      });
      onDismiss();
    },
  });
  return (
    <FormDialog title={say.title(backup, backupTime(backup))} form={form} submit={say.save} onDismiss={onDismiss}>
      <TextField label={say.note} optional description={say.noteAbout} {...form.text("note")} />
      <Checkbox
        checked={form.values.locked}
        description={say.lockedAbout}
        onChange={({ detail }) => form.set({ locked: detail.checked })}
      >
        {say.locked}
      </Checkbox>
      <LabelsField {...form.text("labels")} />
    </FormDialog>
  );
}
