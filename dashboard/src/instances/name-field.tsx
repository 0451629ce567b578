// The name of an instance to be made.
import { text } from "../messages/text.ts";
import { TextField } from "../resource/form/form.tsx";
import type { TextBinding } from "../resource/form/use-form.ts";

export const NameField = (binding: TextBinding) => (
  <TextField label={text.instances.fields.name} hint={text.instances.fields.nameHint} autoFocus {...binding} />
);
