// The dialog that renames a server.
import Modal from "@cloudscape-design/components/modal";
import { api } from "../../../shared/api/index.ts";
import type { Server } from "../../../shared/api/servers.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { Form, TextField } from "../resource/form.tsx";
import { useForm } from "../resource/use-form.ts";

export function RenameServer({ server, onDismiss }: { server: Server; onDismiss: () => void }) {
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
    <Modal visible header={`Rename ${server.name}`} onDismiss={onDismiss}>
      <Form form={form} submit="Rename" onCancel={onDismiss} boxed={false}>
        <TextField
          label="Name"
          hint="1–63 lowercase letters, numbers and hyphens. Can't start or end with a hyphen."
          {...form.text("name")}
        />
      </Form>
    </Modal>
  );
}
