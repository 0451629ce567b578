// The dialog that changes a server's name and labels.
import { create, type ListedServer } from "../../../shared/api/servers.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { servers } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { TextField } from "../resource/form/form.tsx";
import { labelsToText } from "../resource/list/labels.tsx";
import { LabelsField, labelsIn, mergedLabels } from "../resource/form/labels-field.tsx";
import { useEditForm } from "../resource/form/use-edit-form.ts";

const { body } = create();

export function EditServer({ server, onDismiss }: { server: ListedServer; onDismiss: () => void }) {
  const form = useEditForm({
    of: server.id,
    record: server,
    question: servers.one(server.id),
    values: ({ name, labels }) => ({ name, labels: labelsToText(labels) }),
    describe: ({ name, labels }) => ({ [text.servers.fields.name]: name, [text.resource.labels.title]: labels }),
    merge: mergedLabels,
    schema: body.pick({ name: true, labels: true }), // here the name may not be empty
    body: ({ name, labels }) => ({ name, labels: labelsIn(labels) }),
    send: (body, version) => client.servers.update({ params: { id: server.id }, body, ...version }),
    unchanged: onDismiss,
    done: ({ data }) => {
      notify({ id: server.id, type: "success", header: text.servers.edit.saved(data.name) });
      onDismiss();
    },
  });
  return (
    <FormDialog title={text.servers.edit.title(server.name)} form={form} submit={text.servers.edit.save} onDismiss={onDismiss}>
      <TextField label={text.servers.fields.name} hint={text.servers.fields.nameHint} {...form.text("name")} />
      <LabelsField {...form.text("labels")} />
    </FormDialog>
  );
}
