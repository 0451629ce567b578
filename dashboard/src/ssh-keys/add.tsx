// The dialog that adds an SSH key.
import FormField from "@cloudscape-design/components/form-field";
import Textarea from "@cloudscape-design/components/textarea";
import { api } from "../../../shared/api/index.ts";
import type { SshKey } from "../../../shared/api/ssh-keys.ts";
import { client } from "../app/client.ts";
import { FormDialog } from "../resource/form-dialog.tsx";
import { TextField } from "../resource/form.tsx";
import { useForm } from "../resource/use-form.ts";

const { body } = api.sshKeys.create;

/** Rejected before sending: a private key must not leave its owner's machine. */
const schema = body.extend({
  public_key: body.shape.public_key.refine(
    (key) => !key.includes("PRIVATE KEY"),
    "looks like a private key. Paste the public key (the .pub file) and keep the private key secret",
  ),
});

export function AddSshKey({ onAdded, onDismiss }: { onAdded: (key: SshKey) => void; onDismiss: () => void }) {
  const form = useForm({
    initial: { name: "", public_key: "" },
    schema,
    body: ({ name, public_key }) => ({ name, public_key: public_key.trim() }),
    send: (filled, idempotencyKey) => client.sshKeys.create({ body: filled, idempotencyKey }),
    done: ({ data }) => onAdded(data),
  });
  return (
    <FormDialog title="Add SSH key" form={form} submit="Add SSH key" onDismiss={onDismiss}>
      <TextField label="Name" placeholder="Ops laptop" {...form.text("name")} />
      <FormField
        label="Public key"
        description="The contents of your .pub file. Safe to share."
        constraintText="OpenSSH format: Ed25519, ECDSA or RSA (2048 bits or more)."
        errorText={form.error("public_key")}
      >
        <Textarea
          value={form.values.public_key}
          onChange={({ detail }) => form.set({ public_key: detail.value })}
          placeholder="ssh-ed25519 AAAA… you@laptop"
          spellcheck={false}
          rows={4}
        />
      </FormField>
    </FormDialog>
  );
}
