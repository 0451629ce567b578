// The form that creates an API key, whose value is shown only once.
import { useState } from "react";
import { useNavigate } from "react-router";
import * as z from "zod";
import { api } from "../../../shared/api/index.ts";
import { client } from "../app/client.ts";
import { Page } from "../app/page.tsx";
import { Form, TextField } from "../resource/form.tsx";
import { SecretOnce } from "../resource/secret-once.tsx";
import { useForm } from "../resource/use-form.ts";
import { endOf, type Expiry } from "./expiry.ts";
import { ExpiryField } from "./expiry-field.tsx";
import { PermissionsField } from "./permissions-field.tsx";
import type { Permission } from "../../../shared/api/permissions.ts";

const LIST = "/settings/api-keys";
const ABOVE = [{ text: "API keys", href: LIST }];

const nothingChosen: { name: string; permissions: Permission[]; expiry: Expiry; date: string } = {
  name: "",
  permissions: [],
  expiry: "90",
  date: "",
};

/** The contract's schema, with messages for a date instead of a time. */
const body = api.tokens.create.body.extend({
  expires_at: z.iso
    .datetime("must be a date, for example 2027/01/31")
    .refine((at) => Date.parse(at) > Date.now(), "must be in the future")
    .optional(),
});

export default function CreateApiKey() {
  const navigate = useNavigate();
  const [made, setMade] = useState<{ name: string; token: string }>();
  const form = useForm({
    initial: nothingChosen,
    schema: body,
    body: ({ name, permissions, expiry, date }) => {
      const end = endOf(expiry, date);
      return { name, permissions, expires_at: end === null ? "no day" : end?.toISOString() };
    },
    send: (filled, idempotencyKey) => client.tokens.create({ body: filled, idempotencyKey }),
    done: ({ data }) => setMade(data),
  });
  const { permissions, expiry, date } = form.values;
  return (
    <Page title="Create API key" above={ABOVE} description="Lets a script or tool call the API on behalf of this account.">
      <Form form={form} submit="Create API key" onCancel={() => void navigate(LIST)}>
        <TextField
          label="Name"
          description="The script or tool that uses this key."
          placeholder="Deploy pipeline"
          autoFocus
          {...form.text("name")}
        />
        <PermissionsField
          chosen={permissions}
          error={form.error("permissions")}
          onChange={(chosen) => form.set({ permissions: chosen })}
        />
        <ExpiryField expiry={expiry} date={date} error={form.error("expires_at")} onChange={(changed) => form.set(changed)} />
      </Form>
      {made !== undefined && (
        <SecretOnce title={`API key ${made.name}`} what="API key" value={made.token} onStored={() => void navigate(LIST)} />
      )}
    </Page>
  );
}
