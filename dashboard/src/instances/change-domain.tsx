// The dialog that gives an instance another domain.
import Alert from "@cloudscape-design/components/alert";
import Modal from "@cloudscape-design/components/modal";
import { api } from "../../../shared/api/index.ts";
import type { Instance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { Form, TextField } from "../resource/form.tsx";
import { useForm } from "../resource/use-form.ts";
import { RecordToSet } from "./dns-record.tsx";

export function ChangeDomain({ instance, onDismiss }: { instance: Instance; onDismiss: () => void }) {
  const { id, name, domain, dns_record } = instance;
  const newDomain = api.instances.create.body.shape.domain.refine((value) => value !== domain, "is the one that it has");
  const form = useForm({
    initial: { domain: "" },
    schema: api.instances.create.body.pick({ domain: true }).extend({ domain: newDomain }),
    body: (values) => ({ domain: values.domain.trim().toLowerCase() }),
    send: (body) => client.instances.update({ params: { id }, body }),
    done: onDismiss,
  });
  return (
    <Modal visible header={`Change the domain of ${name}`} onDismiss={onDismiss}>
      <Form form={form} submit="Change domain" onCancel={onDismiss} boxed={false}>
        <Alert type="info">
          Set the DNS record of the new domain first. {domain} serves until the new one does; then it leads nowhere, and you can
          remove its record.
        </Alert>
        <TextField label="New domain" placeholder="shop.example.com" {...form.text("domain")} />
        <RecordToSet record={{ ...dns_record, name: form.values.domain.trim().toLowerCase() }} />
      </Form>
    </Modal>
  );
}
