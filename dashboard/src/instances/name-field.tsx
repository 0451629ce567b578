// The name of an instance to be made.
import { TextField } from "../resource/form.tsx";
import type { TextBinding } from "../resource/use-form.ts";

export const NameField = (binding: TextBinding) => (
  <TextField label="Name" hint="A display name. You can change it later." autoFocus {...binding} />
);
