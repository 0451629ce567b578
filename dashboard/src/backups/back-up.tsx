// The dialog that backs an instance up now.
import Modal from "@cloudscape-design/components/modal";
import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import { api } from "../../../shared/api/index.ts";
import type { Instance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { Form, TextField } from "../resource/form.tsx";
import { given, useForm } from "../resource/use-form.ts";
import { id } from "../../../shared/api/fields.ts";

interface Props {
  instance: Instance;
  onDismiss: () => void;
}

export const BackUp = ({ instance, onDismiss }: Props) => (
  <BackUpForm title={`Back up ${instance.name}`} chosen={instance.id} onDismiss={onDismiss} />
);

/** One of these; which of them cannot be backed up now says `refused`. */
interface AnyProps {
  instances: readonly { instance: Instance; refused: string | undefined }[];
  onDismiss: () => void;
}

export const BackUpAny = ({ instances, onDismiss }: AnyProps) => (
  <BackUpForm title="Back up an instance" among={instances} chosen="" onDismiss={onDismiss} />
);

interface FormProps {
  title: string;
  among?: AnyProps["instances"];
  chosen: string;
  onDismiss: () => void;
}

function BackUpForm({ title, among, chosen, onDismiss }: FormProps) {
  const form = useForm({
    initial: { instance_id: chosen, note: "" },
    schema: api.backups.create.body.extend({ instance_id: id("instance") }),
    body: ({ instance_id, note }) => ({ instance_id, note: given(note) }),
    send: ({ instance_id, ...body }, idempotencyKey) =>
      client.backups.create({ params: { id: instance_id }, body, idempotencyKey }),
    done: onDismiss,
  });
  return (
    <Modal visible header={title} onDismiss={onDismiss}>
      <Form form={form} submit="Back up now" onCancel={onDismiss} boxed={false}>
        {among !== undefined && (
          <InstanceField
            among={among}
            chosen={form.values.instance_id}
            error={form.error("instance_id")}
            onChange={(instance_id) => form.set({ instance_id })}
          />
        )}
        <TextField
          label="Note"
          optional
          description="Why, or what is about to be done. The instance goes on running meanwhile."
          placeholder="Before the upgrade"
          {...form.text("note")}
        />
      </Form>
    </Modal>
  );
}

interface FieldProps {
  among: AnyProps["instances"];
  chosen: string;
  error: string | undefined;
  onChange: (id: string) => void;
}

function InstanceField({ among, chosen, error, onChange }: FieldProps) {
  const options = among.map(({ instance, refused }) => ({
    value: instance.id,
    label: instance.name,
    // A tooltip is nothing for fingers: the reason stands where everybody reads it.
    description: refused ?? instance.domain,
    disabled: refused !== undefined,
  }));
  return (
    <FormField label="Instance" errorText={error}>
      <Select
        options={options}
        selectedOption={options.find(({ value }) => value === chosen) ?? null}
        placeholder="Choose an instance"
        filteringType={options.length > 8 ? "auto" : "none"}
        filteringAriaLabel="Find an instance"
        onChange={({ detail }) => onChange(detail.selectedOption.value ?? "")}
      />
    </FormField>
  );
}
