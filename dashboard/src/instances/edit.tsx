// The dialog that changes an instance's name, its administrator's email and its labels, which needs no operation.
import * as z from "zod";
import { create, type Instance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { instances } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { TextField } from "../resource/form/form.tsx";
import { labelsToText } from "../resource/list/labels.tsx";
import { LabelsField, labelsIn, mergedLabels } from "../resource/form/labels-field.tsx";
import { useEditForm } from "../resource/form/use-edit-form.ts";

const GB = 1_000_000_000;
const quotaToText = (bytes: number | null): string => (bytes === null ? "" : String(bytes / GB));

/** What is no number of GB becomes -1, which is no quota. */
function quotaIn(typed: string): number | null {
  const gb = typed.trim().replace(",", ".");
  if (gb === "") return null;
  return /^\d{1,6}(\.\d{1,9})?$/.test(gb) ? Math.round(Number(gb) * GB) : -1;
}
const quotaSchema = () => z.nullable(z.number().refine((bytes) => bytes > 0, text.instances.edit.diskQuotaInvalid));

const fields = create().body.shape;

export function EditInstance({ instance, onDismiss }: { instance: Instance; onDismiss: () => void }) {
  const { id, name } = instance;
  const { fields: labeled, edit: say } = text.instances;
  const form = useEditForm({
    of: id,
    record: instance,
    question: instances.one(id),
    values: (record) => ({
      name: record.name,
      admin_email: record.admin_email,
      labels: labelsToText(record.labels),
      disk_quota_bytes: quotaToText(record.disk_quota_bytes),
    }),
    describe: (values) => ({
      [labeled.name]: values.name,
      [labeled.adminEmail]: values.admin_email,
      [labeled.diskQuota]: values.disk_quota_bytes,
      [text.resource.labels.title]: values.labels,
    }),
    merge: mergedLabels,
    schema: z.object({
      name: fields.name,
      admin_email: fields.admin_email,
      labels: fields.labels,
      disk_quota_bytes: quotaSchema(),
    }), // here both have values, and neither may be empty
    body: (values) => ({
      name: values.name.trim(),
      admin_email: values.admin_email.trim(),
      labels: labelsIn(values.labels),
      disk_quota_bytes: quotaIn(values.disk_quota_bytes),
    }),
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
      <TextField
        label={labeled.diskQuota}
        description={say.diskQuotaAbout}
        optional
        inputMode="decimal"
        {...form.text("disk_quota_bytes")}
      />
      <LabelsField {...form.text("labels")} />
    </FormDialog>
  );
}
