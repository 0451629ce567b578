// The dialog that backs up an instance now.
import { create } from "../../../shared/api/backups.ts";
import type { ListedInstance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { instances } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { Chooser } from "../resource/form/chooser.tsx";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { TextField } from "../resource/form/form.tsx";
import { textOrUndefined, useForm } from "../resource/form/use-form.ts";
import { usePages } from "../resource/page/use-pages.ts";
import { id } from "../../../shared/api/fields.ts";

const body = create().body.extend({ instance_id: id("instance") });

interface Props {
  instance: { id: string; name: string };
  note?: string | null;
  onDismiss: () => void;
}

export const BackUp = ({ instance, note, onDismiss }: Props) => (
  <BackUpForm
    title={text.backupDialogs.backUp.title(instance.name)}
    chosen={instance.id}
    note={note ?? ""}
    onDismiss={onDismiss}
  />
);

interface AnyProps {
  /** Why an instance cannot be backed up now. */
  disabledReasonOf: (instance: ListedInstance) => string | undefined;
  onDismiss: () => void;
}

export const BackUpAny = ({ disabledReasonOf, onDismiss }: AnyProps) => (
  <BackUpForm
    title={text.backupDialogs.backUp.anyTitle}
    disabledReasonOf={disabledReasonOf}
    chosen=""
    note=""
    onDismiss={onDismiss}
  />
);

interface FormProps {
  title: string;
  /** Set if the user still has to choose an instance. */
  disabledReasonOf?: AnyProps["disabledReasonOf"];
  chosen: string;
  note: string;
  onDismiss: () => void;
}

function BackUpForm({ title, disabledReasonOf, chosen, note, onDismiss }: FormProps) {
  const say = text.backupDialogs.backUp;
  const form = useForm({
    of: chosen,
    initial: { instance_id: chosen, note },
    schema: body,
    body: ({ instance_id, note }) => ({ instance_id, note: textOrUndefined(note) }),
    send: ({ instance_id, ...body }, idempotencyKey) =>
      client.backups.create({ params: { id: instance_id }, body, idempotencyKey }),
    done: onDismiss,
  });
  return (
    <FormDialog title={title} form={form} submit={say.submit} onDismiss={onDismiss}>
      {disabledReasonOf !== undefined && (
        <InstanceField
          disabledReasonOf={disabledReasonOf}
          chosen={form.values.instance_id}
          error={form.error("instance_id")}
          onChange={(instance_id) => form.set({ instance_id })}
        />
      )}
      <TextField label={say.note} optional description={say.noteAbout} placeholder={say.noteExample} {...form.text("note")} />
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
  const say = text.backupDialogs.backUp;
  const optionOf = (instance: ListedInstance) => {
    const disabledReason = disabledReasonOf(instance);
    // Touch screens have no tooltips: the reason is always visible.
    return { label: instance.name, description: disabledReason ?? instance.domain, disabled: disabledReason !== undefined };
  };
  return (
    <Chooser
      only
      label={say.instance}
      pages={usePages(instances.list)}
      optionOf={optionOf}
      placeholder={say.choose}
      plural={say.instances}
      empty={say.none}
      {...field}
    />
  );
}
