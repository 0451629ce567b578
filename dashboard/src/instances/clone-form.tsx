// The form that creates a new instance from a backup.
import Alert from "@cloudscape-design/components/alert";
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useNavigate } from "react-router";
import type { Backup } from "../../../shared/api/backups.ts";
import { clone, type Instance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { backupOption } from "../backups/words.ts";
import { text } from "../messages/text.ts";
import { deleteFirst } from "../operations/delete-first.ts";
import { labelsInBody, CarriedLabels } from "../resource/list/carried-labels.tsx";
import { Chooser } from "../resource/form/chooser.tsx";
import { Form, TextField } from "../resource/form/form.tsx";
import { MoreOptions } from "../resource/page/more-options.tsx";
import { SettledForecast } from "../resource/dialog/settled-forecast.tsx";
import { textOrUndefined, useForm } from "../resource/form/use-form.ts";
import type { Pages } from "../resource/page/use-pages.ts";
import { AdminPasswordField } from "./admin-password-field.tsx";
import type { CreatedInstance } from "./after-creation.tsx";
import { DeletesFirst } from "./deletes-first.tsx";
import { AcceptMissingFiles } from "./missing-files.tsx";
import { NameField } from "./name-field.tsx";
import { ServerField, useActiveServers } from "../servers/server-field.tsx";

const { body: cloneBody } = clone();

interface Props {
  /** The instance of the backups, unless it was deleted. */
  source: { id: string; instance: Instance | undefined };
  offered: Pages<Backup>;
  /** Undefined if the user still has to choose one. */
  preselected: Backup | undefined;
  /** The user restores a backup to a new instance; without it, the user clones the instance. */
  isOfBackup: boolean;
  /** A clone that failed, and is deleted first: it holds the name, the domain and the database. */
  model: Instance | undefined;
  onCreated: (created: CreatedInstance) => void;
}

interface Values {
  backup_id: string;
  name: string;
  domain: string;
  neutralize: boolean;
  reset_users: boolean;
  restore_database: boolean;
  restore_filestore: boolean;
  accept_missing_files: boolean;
  server_id: string;
  database_name: string;
  admin_password: string;
}

const toBody = ({ name, domain, server_id, database_name, admin_password, accept_missing_files, ...values }: Values) => ({
  ...values,
  accept_missing_files: accept_missing_files ? true : undefined,
  name: name.trim(),
  domain: domain.trim().toLowerCase(),
  server_id: textOrUndefined(server_id),
  database_name: textOrUndefined(database_name),
  admin_password: admin_password === "" ? undefined : admin_password,
});

/**
 * What a failed clone copied is not stored. A copy that is not neutralized runs its jobs and sends its mail: nothing is copied
 * into one unless the user chooses it again.
 */
const useCloneForm = (id: string, chosen: string, { model, onCreated }: Pick<Props, "model" | "onCreated">) =>
  useForm({
    of: model?.id ?? "",
    initial: {
      backup_id: chosen,
      name: model?.name ?? "",
      domain: model?.domain ?? "",
      neutralize: model?.neutralized ?? true,
      reset_users: model?.neutralized ?? true,
      restore_database: model?.neutralized ?? true,
      restore_filestore: model?.neutralized ?? true,
      accept_missing_files: false,
      server_id: model?.server_id ?? "",
      database_name: model?.database_name ?? "",
      admin_password: "",
    },
    schema: cloneBody,
    body: (values) => ({ ...toBody(values), ...labelsInBody(model?.labels) }),
    send: async (body, idempotencyKey) => {
      if (model !== undefined) await deleteFirst(() => client.instances.delete({ params: { id: model.id } }));
      return client.instances.clone({ params: { id }, body, idempotencyKey });
    },
    done: ({ data }) => onCreated(data),
  });

export function CloneForm({ source: { id, instance }, offered, preselected, isOfBackup, model, onCreated }: Props) {
  const say = text.instances.clone;
  const navigate = useNavigate();
  const form = useCloneForm(id, preselected?.id ?? "", { model, onCreated });
  const leave = () => void navigate(instance === undefined ? "/backups" : `/instances/${id}`);
  const server = (
    <ServerField
      only={instance === undefined}
      label={text.instances.fields.server}
      placeholder={instance === undefined ? text.instances.form.chooseServer : say.sameServer}
      {...(instance === undefined && { description: say.deletedServer })}
      pages={useActiveServers()}
      chosen={form.values.server_id}
      error={form.error("server_id")}
      onChange={(server_id) => form.set({ server_id })}
    />
  );
  return (
    <Form form={form} secret submit={isOfBackup ? say.restore : say.create} onCancel={leave}>
      <Again model={model} />
      <Chooser
        label={say.backup}
        description={say.backupAbout}
        error={form.error("backup_id")}
        pages={offered}
        initially={preselected}
        optionOf={backupOption}
        placeholder={say.chooseBackup}
        plural={say.backups}
        empty={say.noBackups}
        chosen={form.values.backup_id}
        onChange={(backup_id) => form.set({ backup_id, accept_missing_files: false })}
      />
      <MissingFiles
        values={form.values}
        among={[...offered.items, ...(preselected === undefined ? [] : [preselected])]}
        onChange={form.set}
      />
      <NameField {...form.text("name")} />
      <TextField
        label={text.instances.fields.domain}
        description={say.domainAbout}
        placeholder="staging.example.com"
        {...form.text("domain")}
      />
      {instance === undefined && server}
      <Parts values={form.values} none={form.error("restore_database") !== undefined} onChange={form.set} />
      <Isolation values={form.values} onChange={form.set} />
      {model === undefined ? (
        <Preview id={id} values={form.values} deleted={instance === undefined} error={form.error} />
      ) : (
        <CarriedLabels of={model.labels} />
      )}
      <MoreOptions wrong={["server_id", "database_name", "admin_password"].some((field) => form.error(field) !== undefined)}>
        {instance !== undefined && server}
        <DatabaseFields field={form.text} />
      </MoreOptions>
    </Form>
  );
}

/** Above the form of a failed clone. */
const Again = ({ model }: Pick<Props, "model">) =>
  model !== undefined && (
    <>
      <DeletesFirst model={model} />
      <Alert type="info">{text.instances.clone.chooseAgain}</Alert>
    </>
  );

/** What becomes of a deleted instance's clone depends on the server. */
function Preview({
  id,
  values,
  deleted,
  error,
}: {
  id: string;
  values: Values;
  deleted: boolean;
  error: (field: string) => string | undefined;
}) {
  if (deleted && values.server_id === "") return undefined;
  return (
    <SettledForecast
      schema={cloneBody}
      body={toBody(values)}
      rehearse={(body) => client.instances.clone.dryRun({ params: { id }, body })}
      of={id}
      error={error}
    />
  );
}

function Isolation({
  values,
  onChange,
}: {
  values: Values;
  onChange: (changes: Partial<Pick<Values, "neutralize" | "reset_users">>) => void;
}) {
  const say = text.instances.clone;
  return (
    <>
      <Neutralize
        chosen={values.neutralize}
        // A copy for tests locks out other users; one that replaces the original lets them in.
        onChange={(neutralize) => onChange({ neutralize, reset_users: neutralize })}
      />
      <Checkbox
        checked={values.reset_users}
        description={say.resetUsersAbout}
        onChange={({ detail }) => onChange({ reset_users: detail.checked })}
      >
        {say.resetUsers}
      </Checkbox>
    </>
  );
}

/** Matters only to a copy of both parts. */
function MissingFiles({
  values: { backup_id, restore_database, restore_filestore, accept_missing_files },
  among,
  onChange,
}: {
  values: Values;
  among: readonly Backup[];
  onChange: (changes: Pick<Values, "accept_missing_files">) => void;
}) {
  if (!restore_database || !restore_filestore) return null;
  return (
    <AcceptMissingFiles
      backup={among.find(({ id }) => id === backup_id)}
      accepted={accept_missing_files}
      onChange={(accepted) => onChange({ accept_missing_files: accepted })}
    />
  );
}

interface Taken {
  restore_database: boolean;
  restore_filestore: boolean;
}

function Parts({
  values,
  none,
  onChange,
}: {
  values: Taken;
  /** Neither part was chosen. */
  none: boolean;
  onChange: (changes: Partial<Taken>) => void;
}) {
  const say = text.instances.clone;
  return (
    <FormField label={say.parts} errorText={none ? say.nothingToCopy : undefined}>
      <SpaceBetween size="xs">
        <Checkbox
          checked={values.restore_database}
          description={say.databaseAbout}
          onChange={({ detail }) => onChange({ restore_database: detail.checked })}
        >
          {say.database}
        </Checkbox>
        <Checkbox
          checked={values.restore_filestore}
          description={say.filesAbout}
          // An error of both appears at the database; changing either clears it.
          onChange={({ detail }) => onChange({ restore_filestore: detail.checked, restore_database: values.restore_database })}
        >
          {say.files}
        </Checkbox>
      </SpaceBetween>
    </FormField>
  );
}

function Neutralize({ chosen, onChange }: { chosen: boolean; onChange: (chosen: boolean) => void }) {
  const say = text.instances.clone;
  return (
    <SpaceBetween size="s">
      <Checkbox checked={chosen} description={say.neutralizeAbout} onChange={({ detail }) => onChange(detail.checked)}>
        {say.neutralize}
      </Checkbox>
      {!chosen && <Alert type="warning">{say.notNeutralized}</Alert>}
    </SpaceBetween>
  );
}

function DatabaseFields({ field }: { field: ReturnType<typeof useCloneForm>["text"] }) {
  const say = text.instances.clone;
  return (
    <SpaceBetween size="l">
      <TextField
        label={text.instances.fields.databaseName}
        optional
        placeholder={say.generated}
        hint={say.databaseNameHint}
        {...field("database_name")}
      />
      <AdminPasswordField {...field("admin_password")} />
    </SpaceBetween>
  );
}
