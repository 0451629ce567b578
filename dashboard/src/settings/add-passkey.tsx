// The dialog that adds a passkey: its name, then the browser's own dialog.
import Alert from "@cloudscape-design/components/alert";
import { addPasskey } from "../../../shared/api/second-factors.ts";
import { client } from "../app/client.ts";
import { load } from "../app/loading.ts";
import { notify } from "../app/notifications.ts";
import { text } from "../messages/text.ts";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { TextField } from "../resource/form/form.tsx";
import { useForm } from "../resource/form/use-form.ts";

/** The browser created none: the user declined, or has one there already. */
class NotCreated extends Error {
  override name = "NotCreated";
}

const { body } = addPasskey();

export function AddPasskey({ onAdded, onDismiss }: { onAdded: () => void; onDismiss: () => void }) {
  const say = text.settings.factors.addPasskey;
  const form = useForm({
    initial: { name: "" },
    schema: body.pick({ name: true }),
    body: (values) => values,
    send: async ({ name }) => {
      const { data: options } = await client.secondFactors.passkeyOptions({ body: {} });
      const { createPasskey } = await load(() => import("../session/passkeys.ts"));
      const attestation = await createPasskey(options).catch((cause: unknown) => {
        throw new NotCreated(undefined, { cause });
      });
      return client.secondFactors.addPasskey({ body: { name, attestation } });
    },
    done: ({ data: { id, name } }) => {
      notify({ id, type: "success", header: say.added(name) });
      onAdded();
    },
  });
  const { failure, ...others } = form;
  const isOurs = failure instanceof NotCreated;
  return (
    <FormDialog
      title={say.title}
      form={{ ...others, failure: isOurs ? undefined : failure }}
      submit={say.submit}
      onDismiss={onDismiss}
    >
      {isOurs && (
        <div role="alert">
          <Alert type="warning">{say.notCreated}</Alert>
        </div>
      )}
      {say.about}
      <TextField label={say.name} description={say.nameAbout} autoFocus {...form.text("name")} />
    </FormDialog>
  );
}
