// The dialog that invites somebody to the account.
import { create } from "../../../shared/api/invitations.ts";
import type { Permission } from "../../../shared/api/permissions.ts";
import type { Role } from "../../../shared/api/roles.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { text } from "../messages/text.ts";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { TextField } from "../resource/form/form.tsx";
import { useForm } from "../resource/form/use-form.ts";
import { RoleField } from "./role-field.tsx";

const initial: { email: string; role: Role; permissions: Permission[] } = { email: "", role: "viewer", permissions: [] };

export function Invite({ mayMakeOwner, onDismiss }: { mayMakeOwner: boolean; onDismiss: () => void }) {
  const say = text.people.invite;
  const form = useForm({
    initial,
    schema: create().body,
    body: ({ email, role, permissions }) => (role === "custom" ? { email, role, permissions } : { email, role }),
    send: (filled, idempotencyKey) => client.invitations.create({ body: filled, idempotencyKey }),
    done: ({ data: { id, email } }) => {
      notify({ id, type: "success", header: say.sent(email) });
      onDismiss();
    },
  });
  return (
    <FormDialog title={say.title} form={form} submit={say.submit} onDismiss={onDismiss}>
      <TextField label={say.email} description={say.emailAbout} type="email" autoFocus {...form.text("email")} />
      <RoleField chosen={form.values} error={form.error} mayMakeOwner={mayMakeOwner} onChange={(changed) => form.set(changed)} />
    </FormDialog>
  );
}
