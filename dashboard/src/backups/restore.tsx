// The dialog that restores a backup: says what it replaces, and continues only once the user typed the instance's name.
import Alert from "@cloudscape-design/components/alert";
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import Modal from "@cloudscape-design/components/modal";
import RadioGroup from "@cloudscape-design/components/radio-group";
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import * as z from "zod";
import type { Backup } from "../../../shared/api/backups.ts";
import { api } from "../../../shared/api/index.ts";
import type { Instance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { instances } from "../app/queries.ts";
import { Forecast } from "../resource/forecast.tsx";
import { Form, TextField } from "../resource/form.tsx";
import { useForm } from "../resource/use-form.ts";
import { momentOf } from "./words.ts";

interface Props {
  backup: Backup;
  onDismiss: () => void;
}

export function Restore({ backup, onDismiss }: Props) {
  // The user types the instance's current name; the backup has the name of its time.
  const { data, error, refetch } = useQuery(instances.one(backup.instance_id));
  return (
    <Modal visible header={`Restore ${data?.data.name ?? backup.instance_name}`} onDismiss={onDismiss}>
      {data !== undefined ? (
        <RestoreForm backup={backup} instance={data.data} onDismiss={onDismiss} />
      ) : error === null ? (
        <Spinner size="large" />
      ) : (
        <Failure error={error} retry={() => void refetch()} />
      )}
    </Modal>
  );
}

const PARTS = {
  all: { label: "Database and files", restore_database: true, restore_filestore: true, what: "database and files" },
  database: { label: "Database only", restore_database: true, restore_filestore: false, what: "database" },
  files: { label: "Files only", restore_database: false, restore_filestore: true, what: "files" },
} as const;
type Part = keyof typeof PARTS;
const isPart = (value: string): value is Part => Object.hasOwn(PARTS, value);
const PART_OPTIONS = Object.entries(PARTS).map(([value, { label }]) => ({ value, label }));

interface Choices {
  part: Part;
  backup_first: boolean;
  neutralize: boolean;
}

function bodyOf({ part, backup_first, neutralize }: Choices) {
  const { restore_database, restore_filestore } = PARTS[part];
  return { restore_database, restore_filestore, backup_first, neutralize: neutralize && restore_database };
}

const nothingChosen: Choices & { name: string } = {
  part: "all",
  backup_first: true,
  neutralize: false,
  name: "",
};

function useRestoreForm({ backup, instance, onDismiss }: Props & { instance: Instance }) {
  const navigate = useNavigate();
  return useForm({
    of: backup.id,
    initial: nothingChosen,
    schema: api.backups.restore.body.safeExtend({
      name: z.string().refine((typed) => typed === instance.name.trim(), `doesn't match. Type ${instance.name}`),
    }),
    body: ({ name, ...choices }) => ({ ...bodyOf(choices), name: name.trim() }),
    send: ({ restore_database, restore_filestore, backup_first, neutralize }, idempotencyKey) =>
      client.backups.restore({
        params: { id: backup.id },
        body: { restore_database, restore_filestore, backup_first, neutralize },
        idempotencyKey,
      }),
    done: () => {
      onDismiss();
      void navigate(`/instances/${instance.id}`); // to the top, where the progress is
      window.scrollTo(0, 0);
    },
  });
}

function RestoreForm({ backup, instance, onDismiss }: Props & { instance: Instance }) {
  const form = useRestoreForm({ backup, instance, onDismiss });
  const { part, backup_first, neutralize } = form.values;
  const body = bodyOf(form.values);
  return (
    <Form form={form} submit="Restore" onCancel={onDismiss} boxed={false}>
      <Alert type="warning">
        This replaces the {PARTS[part].what} of {instance.name} with the backup from {momentOf(backup)}. {instance.name} is
        unavailable during the restore. Changes made since then{" "}
        {backup_first ? "will exist only in the pre-restore backup." : "will be lost."} If the restore fails, the instance is
        rolled back.
      </Alert>
      <FormField label="What to restore" errorText={form.error("restore_database")}>
        <RadioGroup
          value={part}
          items={PART_OPTIONS}
          onChange={({ detail }) => isPart(detail.value) && form.set({ part: detail.value })}
        />
      </FormField>
      <Checkbox
        checked={backup_first}
        description="Backs up the current state first, so you can undo this restore."
        onChange={({ detail }) => form.set({ backup_first: detail.checked })}
      >
        Back up the current state first
      </Checkbox>
      <Checkbox
        checked={neutralize && PARTS[part].restore_database}
        disabled={!PARTS[part].restore_database}
        description="Turns off scheduled actions, email and payments. Leave this off for production."
        onChange={({ detail }) => form.set({ neutralize: detail.checked })}
      >
        Neutralize
      </Checkbox>
      <Forecast rehearse={() => client.backups.restore.dryRun({ params: { id: backup.id }, body })} of={[backup.id, body]} />
      <TextField label={`Type ${instance.name} to confirm`} {...form.text("name")} />
    </Form>
  );
}
