// The form that creates a webhook, whose secret is shown only once.
import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import { useState } from "react";
import { useNavigate } from "react-router";
import { create, WEBHOOK_FORMATS, type WebhookFormat } from "../../../shared/api/webhooks.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { Page } from "../app/page.tsx";
import { text } from "../messages/text.ts";
import { Form, TextField } from "../resource/form/form.tsx";
import { SecretOnce } from "../resource/dialog/secret-once.tsx";
import { useForm } from "../resource/form/use-form.ts";
import { EventsField, eventsIn } from "./events-field.tsx";

const LIST = "/settings/webhooks";

const initial: { name: string; url: string; format: WebhookFormat; events: string } = {
  name: "",
  url: "",
  format: "json",
  events: "changes\nalerts",
};

export default function CreateWebhook() {
  const navigate = useNavigate();
  const [created, setCreated] = useState<{ id: string; name: string; secret: string }>();
  const say = text.webhooks.create;
  const open = (id: string): void => void navigate(`${LIST}/${id}`);
  const form = useForm({
    initial,
    schema: create().body,
    body: ({ name, url, format, events }) => ({ name, url, format, events: eventsIn(events) }),
    send: (filled, idempotencyKey) => client.webhooks.create({ body: filled, idempotencyKey }),
    done: ({ data: { id, name, secret } }) => {
      if (secret !== null) return setCreated({ id, name, secret });
      notify({ id, type: "success", header: say.created(name) });
      open(id);
    },
  });
  const formats = WEBHOOK_FORMATS.map((value) => ({ value, label: say.formats[value] }));
  return (
    <Page title={say.title} above={[{ text: text.webhooks.title, href: LIST }]} description={say.about}>
      <Form form={form} secret submit={say.title} onCancel={() => void navigate(LIST)}>
        <TextField label={say.name} placeholder={say.namePlaceholder} autoFocus {...form.text("name")} />
        <TextField label={say.url} hint={say.urlHint} {...form.text("url")} />
        <FormField label={say.format} errorText={form.error("format")}>
          <Select
            options={formats}
            selectedOption={formats.find(({ value }) => value === form.values.format) ?? null}
            onChange={({ detail }) => {
              const format = WEBHOOK_FORMATS.find((each) => each === detail.selectedOption.value);
              if (format !== undefined) form.set({ format });
            }}
          />
        </FormField>
        <EventsField {...form.text("events")} />
      </Form>
      {created !== undefined && (
        <SecretOnce
          title={say.created(created.name)}
          valueName={say.secret}
          value={created.secret}
          onStored={() => open(created.id)}
        />
      )}
    </Page>
  );
}
