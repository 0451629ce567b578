// The dialog that adds an SSH key.
import FormField from "@cloudscape-design/components/form-field";
import Textarea from "@cloudscape-design/components/textarea";
import { create, type SshKey } from "../../../shared/api/ssh-keys.ts";
import { client } from "../app/client.ts";
import { text } from "../messages/text.ts";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { TextField } from "../resource/form/form.tsx";
import { useForm } from "../resource/form/use-form.ts";

const { body } = create();

/** Rejected before sending: a private key must not leave its owner's machine. */
const schema = body.extend({
  public_key: body.shape.public_key.refine((key) => !key.includes("PRIVATE KEY"), { error: () => text.sshKeys.form.privateKey }),
});

export function AddSshKey({ onAdded, onDismiss }: { onAdded: (key: SshKey) => void; onDismiss: () => void }) {
  const form = useForm({
    initial: { name: "", public_key: "" },
    schema,
    body: ({ name, public_key }) => ({ name, public_key: public_key.trim() }),
    send: (filled, idempotencyKey) => client.sshKeys.create({ body: filled, idempotencyKey }),
    done: ({ data }) => onAdded(data),
  });
  const say = text.sshKeys.form;
  return (
    <FormDialog title={text.sshKeys.add} form={form} submit={text.sshKeys.add} onDismiss={onDismiss}>
      <TextField label={say.name} placeholder={say.namePlaceholder} {...form.text("name")} />
      <FormField label={say.key} description={say.keyAbout} constraintText={say.keyHint} errorText={form.error("public_key")}>
        <Textarea
          value={form.values.public_key}
          onChange={({ detail }) => form.set({ public_key: detail.value })}
          placeholder={say.keyPlaceholder}
          spellcheck={false}
          rows={4}
        />
      </FormField>
    </FormDialog>
  );
}
