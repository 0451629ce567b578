// The dialog that restores a backup: says what is replaced, and goes on only once the instance's name is typed.
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
import { Form, TextField } from "../resource/form.tsx";
import { useForm } from "../resource/use-form.ts";
import { momentOf } from "./words.ts";

interface Props {
  backup: Backup;
  onDismiss: () => void;
}

export function Restore({ backup, onDismiss }: Props) {
  // The name to be typed is the instance's present one; the backup has the one of its time.
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
  all: { label: "Database and files", restore_database: true, restore_filestore: true, what: "the database and the files are" },
  database: { label: "Database only", restore_database: true, restore_filestore: false, what: "the database is" },
  files: { label: "Files only", restore_database: false, restore_filestore: true, what: "the files are" },
} as const;
type Part = keyof typeof PARTS;
const isPart = (value: string): value is Part => Object.hasOwn(PARTS, value);
const PART_OPTIONS = Object.entries(PARTS).map(([value, { label }]) => ({ value, label }));

const nothingChosen: { part: Part; backup_first: boolean; neutralize: boolean; name: string } = {
  part: "all",
  backup_first: true,
  neutralize: false,
  name: "",
};

function RestoreForm({ backup, instance, onDismiss }: Props & { instance: Instance }) {
  const navigate = useNavigate();
  const form = useForm({
    of: backup.id,
    initial: nothingChosen,
    schema: api.backups.restore.body.safeExtend({
      name: z.literal(instance.name.trim(), `must be the instance's name, ${instance.name}`),
    }),
    body: ({ part, backup_first, neutralize, name }) => {
      const { restore_database, restore_filestore } = PARTS[part];
      return {
        restore_database,
        restore_filestore,
        backup_first,
        neutralize: neutralize && restore_database,
        name: name.trim(),
      };
    },
    send: ({ restore_database, restore_filestore, backup_first, neutralize }, idempotencyKey) =>
      client.backups.restore({
        params: { id: backup.id },
        body: { restore_database, restore_filestore, backup_first, neutralize },
        idempotencyKey,
      }),
    done: () => {
      onDismiss();
      void navigate(`/instances/${instance.id}`); // where the progress is
    },
  });
  const { part, backup_first, neutralize } = form.values;
  return (
    <Form form={form} submit="Restore" onCancel={onDismiss} boxed={false}>
      <Alert type="warning">
        In {instance.name}, {PARTS[part].what} replaced by what the backup of {momentOf(backup)} holds. {instance.name} cannot be
        used while that lasts; what has changed since the backup is then{" "}
        {backup_first ? "only in the safety backup." : "lost for good."} If the restore fails, the instance is put back as it was.
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
        description="Takes a backup of the instance as it is now, so that this restore can be undone."
        onChange={({ detail }) => form.set({ backup_first: detail.checked })}
      >
        Take a safety backup first
      </Checkbox>
      <Checkbox
        checked={neutralize && PARTS[part].restore_database}
        disabled={!PARTS[part].restore_database}
        description="Switches scheduled jobs, mail and payments off, for an instance that is only to be looked at. Leave it off for one that people work with."
        onChange={({ detail }) => form.set({ neutralize: detail.checked })}
      >
        Neutralize
      </Checkbox>
      <TextField label={`To confirm, type ${instance.name}`} {...form.text("name")} />
    </Form>
  );
}
