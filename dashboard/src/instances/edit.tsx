// The dialog that changes an instance's name and its administrator's email, which needs no operation.
import { api } from "../../../shared/api/index.ts";
import type { Instance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { FormDialog } from "../resource/form-dialog.tsx";
import { TextField } from "../resource/form.tsx";
import { useForm } from "../resource/use-form.ts";

export function EditInstance({ instance: { id, name, admin_email }, onDismiss }: { instance: Instance; onDismiss: () => void }) {
  const form = useForm({
    initial: { name, admin_email },
    schema: api.instances.create.body.pick({ name: true, admin_email: true }), // here both have values, and neither may be empty
    body: (values) => ({ name: values.name.trim(), admin_email: values.admin_email.trim() }),
    send: (body) => client.instances.update({ params: { id }, body }),
    done: ({ data }) => {
      notify({ id, type: "success", header: `Instance updated: ${data.name}` });
      onDismiss();
    },
  });
  return (
    <FormDialog title={`Edit ${name}`} form={form} submit="Save" onDismiss={onDismiss}>
      <TextField label="Name" {...form.text("name")} />
      <TextField
        label="Admin email"
        description="Used as the login of new clones. Doesn't change the login of this instance."
        type="email"
        {...form.text("admin_email")}
      />
    </FormDialog>
  );
}
