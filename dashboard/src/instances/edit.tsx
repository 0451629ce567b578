// The dialog that changes an instance's name, its administrator's email and its labels, which needs no operation.
import * as z from "zod";
import { api } from "../../../shared/api/index.ts";
import type { Instance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { instances } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { FormDialog } from "../resource/form-dialog.tsx";
import { TextField } from "../resource/form.tsx";
import { LabelsField, labelsIn, labelsToText, mergedLabels } from "../resource/labels.tsx";
import { useEditForm } from "../resource/use-edit-form.ts";

const fields = api.instances.create.body.shape;

export function EditInstance({ instance, onDismiss }: { instance: Instance; onDismiss: () => void }) {
  const { id, name } = instance;
  const { fields: labeled, edit: say } = text.instances;
  const form = useEditForm({
    of: id,
    record: instance,
    question: instances.one(id),
    values: (record) => ({ name: record.name, admin_email: record.admin_email, labels: labelsToText(record.labels) }),
    shown: (values) => ({
      [labeled.name]: values.name,
      [labeled.adminEmail]: values.admin_email,
      [text.resource.labels.title]: values.labels,
    }),
    merge: mergedLabels,
    schema: z.object({ name: fields.name, admin_email: fields.admin_email, labels: fields.labels }), // here both have values, and neither may be empty
    body: (values) => ({ name: values.name.trim(), admin_email: values.admin_email.trim(), labels: labelsIn(values.labels) }),
    send: (body, version) => client.instances.update({ params: { id }, body, ...version }),
    unchanged: onDismiss,
    done: ({ data }) => {
      notify({ id, type: "success", header: say.saved(data.name) });
      onDismiss();
    },
  });
  return (
    <FormDialog title={say.title(name)} form={form} submit={say.save} onDismiss={onDismiss}>
      <TextField label={labeled.name} {...form.text("name")} />
      <TextField label={labeled.adminEmail} description={say.adminEmailAbout} type="email" {...form.text("admin_email")} />
      <LabelsField {...form.text("labels")} />
    </FormDialog>
  );
}
