// The dialog that renames a server.
import { api } from "../../../shared/api/index.ts";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { FormDialog } from "../resource/form-dialog.tsx";
import { TextField } from "../resource/form.tsx";
import { useForm } from "../resource/use-form.ts";

export function RenameServer({ server, onDismiss }: { server: ListedServer; onDismiss: () => void }) {
  const form = useForm({
    initial: { name: server.name },
    schema: api.servers.update.body,
    body: (values) => values,
    send: (body) => client.servers.update({ params: { id: server.id }, body }),
    done: ({ data }) => {
      notify({ id: server.id, type: "success", header: `Server renamed: ${data.name}` });
      onDismiss();
    },
  });
  return (
    <FormDialog title={`Rename ${server.name}`} form={form} submit="Rename" onDismiss={onDismiss}>
      <TextField
        label="Name"
        hint="1–63 lowercase letters, numbers and hyphens. Can't start or end with a hyphen."
        {...form.text("name")}
      />
    </FormDialog>
  );
}
