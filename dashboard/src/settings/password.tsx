// The form for users to change their own password.
import * as z from "zod";
import { password } from "../../../shared/api/auth.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { text } from "../messages/text.ts";
import { Form, TextField } from "../resource/form/form.tsx";
import { useForm } from "../resource/form/use-form.ts";
import { Section } from "../resource/page/section.tsx";

const EMPTY = { current_password: "", new_password: "", new_password_again: "" };

/** Typed twice, because the text is hidden. */
const body = password()
  .body.extend({ new_password_again: z.string() })
  .refine((typed) => typed.new_password_again === typed.new_password, {
    path: ["new_password_again"],
    error: () => text.settings.password.differs,
  });

export function PasswordForm() {
  const say = text.settings.password;
  const form = useForm({
    initial: EMPTY,
    schema: body,
    body: (values) => values,
    send: ({ current_password, new_password }) => client.auth.password({ body: { current_password, new_password } }),
    done: () => {
      form.set(EMPTY);
      notify({
        id: "password",
        type: "success",
        header: say.changed,
        content: say.signedOut,
      });
    },
  });
  return (
    <Section title={say.title} description={say.about}>
      <Form form={form} submit={say.change} boxed={false}>
        <TextField label={say.current} type="password" autoComplete="current-password" {...form.text("current_password")} />
        <TextField
          label={say.next}
          type="password"
          autoComplete="new-password"
          hint={say.nextHint}
          {...form.text("new_password")}
        />
        <TextField label={say.again} type="password" autoComplete="new-password" {...form.text("new_password_again")} />
      </Form>
    </Section>
  );
}
