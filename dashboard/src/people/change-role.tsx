// The dialog that gives a user another role.
import type { Permission } from "../../../shared/api/permissions.ts";
import type { Role } from "../../../shared/api/roles.ts";
import { type AccountUser, update } from "../../../shared/api/users.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { users } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { useEditForm } from "../resource/form/use-edit-form.ts";
import { RoleField } from "./role-field.tsx";

interface Props {
  user: AccountUser;
  mayMakeOwner: boolean;
  onDismiss: () => void;
}

interface Values {
  role: Role;
  permissions: Permission[];
}

const valuesOf = ({ role, permissions }: Values): Values => ({ role, permissions: role === "custom" ? permissions : [] });

export function ChangeRole({ user, mayMakeOwner, onDismiss }: Props) {
  const say = text.people;
  const form = useEditForm({
    of: user.id,
    record: user,
    question: users.one(user.id),
    isWhole: true,
    values: valuesOf,
    describe: ({ role, permissions }) => ({
      [say.role.label]: say.roles[role].name,
      [say.role.permissions]: permissions.map((each) => text.app.permissions.names[each]).join(", "),
    }),
    schema: update().body,
    body: ({ role, permissions }) => (role === "custom" ? { role, permissions } : { role }),
    send: (_, version, body) => client.users.update({ params: { id: user.id }, body, ...version }),
    unchanged: onDismiss,
    done: ({ data }) => {
      notify({ id: user.id, type: "success", header: say.role.saved(data.name) });
      onDismiss();
    },
  });
  return (
    <FormDialog title={say.role.title(user.name)} form={form} submit={say.role.save} onDismiss={onDismiss}>
      <RoleField chosen={form.values} error={form.error} mayMakeOwner={mayMakeOwner} onChange={(changed) => form.set(changed)} />
    </FormDialog>
  );
}
