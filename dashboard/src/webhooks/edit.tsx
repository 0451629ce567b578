// The dialog that changes a webhook.
import { create, type Webhook } from "../../../shared/api/webhooks.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { webhooks } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { TextField } from "../resource/form/form.tsx";
import { useEditForm } from "../resource/form/use-edit-form.ts";
import { EventsField, eventsIn } from "./events-field.tsx";

const { body } = create();
const { name, url, events } = body.shape;

/** The URL of a chat is a secret that the service does not show: an empty field keeps it. */
export function EditWebhook({ webhook, onDismiss }: { webhook: Webhook; onDismiss: () => void }) {
  const say = text.webhooks;
  const isChat = webhook.format !== "json";
  const form = useEditForm({
    of: webhook.id,
    record: webhook,
    question: webhooks.one(webhook.id),
    values: (record) => ({ name: record.name, url: isChat ? "" : record.url, events: record.events.join("\n") }),
    describe: (record) => ({
      [say.create.name]: record.name,
      [say.create.url]: record.url,
      [say.create.events]: record.events,
    }),
    schema: body.pick({ name: true, events: true }).extend({ name, events, url: url.optional() }),
    body: (values) => ({
      name: values.name,
      ...(values.url !== "" && { url: values.url }),
      events: eventsIn(values.events),
    }),
    send: (body, version) => client.webhooks.update({ params: { id: webhook.id }, body, ...version }),
    unchanged: onDismiss,
    done: ({ data }) => {
      notify({ id: webhook.id, type: "success", header: say.detail.saved(data.name) });
      onDismiss();
    },
  });
  return (
    <FormDialog title={say.detail.editTitle(webhook.name)} form={form} submit={say.detail.save} onDismiss={onDismiss}>
      <TextField label={say.create.name} {...form.text("name")} />
      <TextField label={say.create.url} hint={say.create.urlHint} {...form.text("url")} />
      <EventsField {...form.text("events")} />
    </FormDialog>
  );
}
