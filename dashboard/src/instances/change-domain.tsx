// The dialog that changes an instance's domain.
import Alert from "@cloudscape-design/components/alert";
import * as z from "zod";
import { asciiDomain } from "../../../shared/domain/international.ts";
import { create, update, type Instance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { instances } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { TextField } from "../resource/form/form.tsx";
import { SettledForecast } from "../resource/dialog/settled-forecast.tsx";
import { useEditForm } from "../resource/form/use-edit-form.ts";
import { RecordToSet } from "./dns-record.tsx";

const { domain: domainField } = create().body.shape;
const { body: updateBody } = update();

export function ChangeDomain({ instance, onDismiss }: { instance: Instance; onDismiss: () => void }) {
  const say = text.instances.changeDomain;
  const { id, name, domain, dns_record } = instance;
  const newDomain = domainField.refine((value) => value !== domain, say.same);
  const form = useEditForm({
    of: `${id} domain`,
    record: instance,
    question: instances.one(id),
    values: (record) => ({ domain: "", current: record.domain }),
    describe: (values) => ({ [text.instances.fields.domain]: values.domain === "" ? values.current : values.domain }),
    schema: z.object({ domain: newDomain }),
    body: (values) => ({ domain: values.domain.trim().toLowerCase() }),
    send: (_changed, version, sent) => client.instances.update({ params: { id }, body: sent, ...version }),
    done: onDismiss,
  });
  return (
    <FormDialog title={say.title(name)} form={form} submit={say.change} onDismiss={onDismiss}>
      <Alert type="info">{say.first(domain)}</Alert>
      <TextField label={say.newDomain} placeholder="shop.example.com" {...form.text("domain")} />
      <SettledForecast
        schema={updateBody}
        body={{ domain: form.values.domain.trim().toLowerCase() }}
        rehearse={(body) => client.instances.update.dryRun({ params: { id }, body })}
        of={id}
        error={form.error}
      />
      <RecordToSet record={{ ...dns_record, name: asciiDomain(form.values.domain.trim().toLowerCase()) }} />
    </FormDialog>
  );
}
