// The form that creates an API key, whose value is shown only once.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import * as z from "zod";
import { create } from "../../../shared/api/tokens.ts";
import { client } from "../app/client.ts";
import { Page } from "../app/page.tsx";
import { defaults } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { Form, TextField } from "../resource/form/form.tsx";
import { SecretOnce } from "../resource/dialog/secret-once.tsx";
import { useForm } from "../resource/form/use-form.ts";
import { serviceNow } from "../session/clock.ts";
import { choicesWithin, endOf, type Expiry } from "./expiry.ts";
import { ExpiryField } from "./expiry-field.tsx";
import { PermissionsField } from "./permissions-field.tsx";
import type { Permission } from "../../../shared/api/permissions.ts";

const LIST = "/settings/api-keys";

const nothingChosen: { name: string; permissions: Permission[]; expiry: Expiry; date: string; networks: string } = {
  name: "",
  permissions: [],
  expiry: "90",
  date: "",
  networks: "",
};

/** The API's schema, with messages for a date instead of a time. */
const body = create().body.extend({
  expires_at: z.iso
    .datetime({ error: () => text.tokens.expiry.noDate })
    .refine((at) => Date.parse(at) > serviceNow(), { error: () => text.tokens.expiry.past })
    .optional(),
});

export default function CreateApiKey() {
  const navigate = useNavigate();
  const [created, setCreated] = useState<{ name: string; token: string }>();
  const maxDays = useQuery(defaults()).data?.data.token_max_days ?? null;
  const offered = (expiry: Expiry): Expiry => (choicesWithin(maxDays).includes(expiry) ? expiry : "never");
  const form = useForm({
    initial: nothingChosen,
    schema: body,
    body: ({ name, permissions, expiry, date, networks }) => {
      const end = endOf(offered(expiry), date);
      const expires_at = end === null ? "invalid" : end?.toISOString();
      return { name, permissions, expires_at, allowed_ips: networks.split(/[,;\s]+/).filter(Boolean) };
    },
    send: (filled, idempotencyKey) => client.tokens.create({ body: filled, idempotencyKey }),
    done: ({ data }) => setCreated(data),
  });
  const { permissions, date } = form.values;
  const expiry = offered(form.values.expiry);
  const say = text.tokens.create;
  return (
    <Page title={say.title} above={[{ text: text.tokens.title, href: LIST }]} description={say.about}>
      <Form form={form} secret submit={say.title} onCancel={() => void navigate(LIST)}>
        <TextField
          label={say.name}
          description={say.nameAbout}
          placeholder={say.namePlaceholder}
          autoFocus
          {...form.text("name")}
        />
        <PermissionsField
          chosen={permissions}
          error={form.error("permissions")}
          onChange={(chosen) => form.set({ permissions: chosen })}
        />
        <ExpiryField
          expiry={expiry}
          date={date}
          error={form.error("expires_at")}
          maxDays={maxDays}
          onChange={(changed) => form.set(changed, "expires_at")}
        />
        <TextField
          label={say.networks}
          optional
          description={say.networksAbout}
          hint={say.networksHint}
          {...form.text("networks", "allowed_ips")}
        />
      </Form>
      {created !== undefined && (
        <SecretOnce
          title={say.created(created.name)}
          valueName={text.tokens.one}
          value={created.token}
          onStored={() => void navigate(LIST)}
        />
      )}
    </Page>
  );
}
