// The dialog that changes an instance's domain.
import Alert from "@cloudscape-design/components/alert";
import { api } from "../../../shared/api/index.ts";
import type { Instance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { FormDialog } from "../resource/form-dialog.tsx";
import { TextField } from "../resource/form.tsx";
import { useForm } from "../resource/use-form.ts";
import { RecordToSet } from "./dns-record.tsx";

export function ChangeDomain({ instance, onDismiss }: { instance: Instance; onDismiss: () => void }) {
  const { id, name, domain, dns_record } = instance;
  const newDomain = api.instances.create.body.shape.domain.refine(
    (value) => value !== domain,
    "is already this instance's domain",
  );
  const form = useForm({
    initial: { domain: "" },
    schema: api.instances.create.body.pick({ domain: true }).extend({ domain: newDomain }),
    body: (values) => ({ domain: values.domain.trim().toLowerCase() }),
    send: (body) => client.instances.update({ params: { id }, body }),
    done: onDismiss,
  });
  return (
    <FormDialog title={`Change the domain of ${name}`} form={form} submit="Change domain" onDismiss={onDismiss}>
      <Alert type="info">
        Create the new domain's DNS record first. {domain} keeps working until the switch. After that you can remove its record.
      </Alert>
      <TextField label="New domain" placeholder="shop.example.com" {...form.text("domain")} />
      <RecordToSet record={{ ...dns_record, name: form.values.domain.trim().toLowerCase() }} />
    </FormDialog>
  );
}
