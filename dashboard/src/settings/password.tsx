// The form for users to change their own password.
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import * as z from "zod";
import { api } from "../../../shared/api/index.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { Form, TextField } from "../resource/form.tsx";
import { useForm } from "../resource/use-form.ts";

const EMPTY = { current_password: "", new_password: "", new_password_again: "" };

/** Typed twice, because the text is hidden. */
const body = api.auth.password.body
  .extend({ new_password_again: z.string() })
  .refine((typed) => typed.new_password_again === typed.new_password, {
    path: ["new_password_again"],
    error: "doesn't match the new password",
  });

export function PasswordForm() {
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
        header: "Password changed",
        content: "You've been signed out on all other devices.",
      });
    },
  });
  return (
    <Container
      header={
        <Header variant="h2" description="You'll be signed out on all other devices.">
          Change password
        </Header>
      }
    >
      <Form form={form} submit="Change password" boxed={false}>
        <TextField label="Current password" type="password" autoComplete="current-password" {...form.text("current_password")} />
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          hint="12–128 characters."
          {...form.text("new_password")}
        />
        <TextField
          label="Confirm new password"
          type="password"
          autoComplete="new-password"
          {...form.text("new_password_again")}
        />
      </Form>
    </Container>
  );
}
