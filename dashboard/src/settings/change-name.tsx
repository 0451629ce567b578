// The dialog that changes the name of whoever is signed in.
import * as z from "zod";
import { update } from "../../../shared/api/users.ts";
import { client } from "../app/client.ts";
import { useMay } from "../app/may.tsx";
import { notify } from "../app/notifications.ts";
import { users } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { TextField } from "../resource/form/form.tsx";
import { useEditForm } from "../resource/form/use-edit-form.ts";
import { renameSessionUser } from "../session/session.ts";

interface Props {
  user: { id: string; name: string };
  onDismiss: () => void;
}

export function ChangeName({ user, onDismiss }: Props) {
  const { id } = user;
  const mayRead = useMay()("settings:read");
  const say = text.settings.session;
  const form = useEditForm({
    record: user,
    of: "name",
    question: users.self(id, mayRead),
    values: ({ name }: Pick<typeof user, "name">) => ({ name }),
    describe: ({ name }) => ({ [say.name]: name }),
    schema: z.strictObject({ name: update().body.shape.name.unwrap() }), // here it may not be left out
    body: (values) => values,
    send: (_changed, version, body) => client.users.update({ params: { id }, body, ...version }),
    done: ({ data }) => {
      renameSessionUser(data.name);
      notify({ id: "name", type: "success", header: say.nameChanged });
      onDismiss();
    },
  });
  return (
    <FormDialog title={say.changeName} form={form} submit={say.changeName} onDismiss={onDismiss}>
      <TextField label={say.name} autoComplete="name" autoFocus {...form.text("name")} />
    </FormDialog>
  );
}
