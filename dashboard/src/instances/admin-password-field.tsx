// The field for the password of an instance's administrator.
import { text } from "../messages/text.ts";
import { TextField } from "../resource/form/form.tsx";
import type { TextBinding } from "../resource/form/use-form.ts";

export const AdminPasswordField = (binding: TextBinding) => (
  <TextField
    label={text.instances.fields.adminPassword}
    optional
    type="password"
    autoComplete="new-password"
    hint={text.instances.fields.adminPasswordHint}
    {...binding}
  />
);
