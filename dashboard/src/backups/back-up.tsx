// The dialog that backs up an instance now.
import { api } from "../../../shared/api/index.ts";
import type { Instance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { instances } from "../app/queries.ts";
import { Chooser } from "../resource/chooser.tsx";
import { FormDialog } from "../resource/form-dialog.tsx";
import { TextField } from "../resource/form.tsx";
import { given, useForm } from "../resource/use-form.ts";
import { usePages } from "../resource/use-pages.ts";
import { id } from "../../../shared/api/fields.ts";

interface Props {
  instance: Instance;
  onDismiss: () => void;
}

export const BackUp = ({ instance, onDismiss }: Props) => (
  <BackUpForm title={`Back up ${instance.name}`} chosen={instance.id} onDismiss={onDismiss} />
);

interface AnyProps {
  /** Why an instance cannot be backed up now. */
  disabledReasonOf: (instance: Instance) => string | undefined;
  onDismiss: () => void;
}

export const BackUpAny = ({ disabledReasonOf, onDismiss }: AnyProps) => (
  <BackUpForm title="Back up an instance" disabledReasonOf={disabledReasonOf} chosen="" onDismiss={onDismiss} />
);

interface FormProps {
  title: string;
  /** If the user still has to choose one. */
  disabledReasonOf?: AnyProps["disabledReasonOf"];
  chosen: string;
  onDismiss: () => void;
}

function BackUpForm({ title, disabledReasonOf, chosen, onDismiss }: FormProps) {
  const form = useForm({
    of: chosen,
    initial: { instance_id: chosen, note: "" },
    schema: api.backups.create.body.extend({ instance_id: id("instance") }),
    body: ({ instance_id, note }) => ({ instance_id, note: given(note) }),
    send: ({ instance_id, ...body }, idempotencyKey) =>
      client.backups.create({ params: { id: instance_id }, body, idempotencyKey }),
    done: onDismiss,
  });
  return (
    <FormDialog title={title} form={form} submit="Back up now" onDismiss={onDismiss}>
      {disabledReasonOf !== undefined && (
        <InstanceField
          disabledReasonOf={disabledReasonOf}
          chosen={form.values.instance_id}
          error={form.error("instance_id")}
          onChange={(instance_id) => form.set({ instance_id })}
        />
      )}
      <TextField
        label="Note"
        optional
        description="What this backup is for. The instance keeps running."
        placeholder="Before the upgrade"
        {...form.text("note")}
      />
    </FormDialog>
  );
}

interface FieldProps {
  disabledReasonOf: AnyProps["disabledReasonOf"];
  chosen: string;
  error: string | undefined;
  onChange: (id: string) => void;
}

function InstanceField({ disabledReasonOf, ...field }: FieldProps) {
  const optionOf = (instance: Instance) => {
    const disabledReason = disabledReasonOf(instance);
    // Touch screens have no tooltips: the reason is always visible.
    return { label: instance.name, description: disabledReason ?? instance.domain, disabled: disabledReason !== undefined };
  };
  return (
    <Chooser
      label="Instance"
      pages={usePages(instances.list)}
      optionOf={optionOf}
      placeholder="Choose an instance"
      what="instances"
      empty="No instances yet"
      {...field}
    />
  );
}
