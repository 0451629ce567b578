// The form that installs an ERP on a server.
import Alert from "@cloudscape-design/components/alert";
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Navigate, useNavigate, useSearchParams } from "react-router";
import { create, type Instance } from "../../../shared/api/instances.ts";
import type { Backup } from "../../../shared/api/backups.ts";
import type { Catalog } from "../../../shared/api/catalog.ts";
import { EDITIONS, type Edition } from "../../../shared/domain/erp-versions.ts";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { databaseNameFrom } from "../../../shared/domain/database-name.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { Page } from "../app/page.tsx";
import { backups, catalog, instances, servers } from "../app/queries.ts";
import { isMissing } from "../app/words.ts";
import { text } from "../messages/text.ts";
import { deleteFirst } from "../operations/delete-first.ts";
import { labelsInBody, CarriedLabels } from "../resource/list/carried-labels.tsx";
import { Form, TextField } from "../resource/form/form.tsx";
import { SettledForecast } from "../resource/dialog/settled-forecast.tsx";
import { useWasEver } from "../resource/page/use-was-ever.ts";
import { useForm } from "../resource/form/use-form.ts";
import type { Pages } from "../resource/page/use-pages.ts";
import { NoServer } from "../servers/no-server.tsx";
import { LowDisk } from "../servers/reported.tsx";
import { session } from "../session/session.ts";
import { backupTime, versionOf } from "../backups/words.ts";
import { canCreateAgain, isUsable } from "../allowed/instances.ts";
import { ErpFields } from "./erp-fields.tsx";
import { AdminPasswordField } from "./admin-password-field.tsx";
import { AfterCreation, type CreatedInstance } from "./after-creation.tsx";
import { DeletesFirst } from "./deletes-first.tsx";
import { AcceptMissingFiles } from "./missing-files.tsx";
import { NameField } from "./name-field.tsx";
import { ServerField, useActiveServers } from "../servers/server-field.tsx";

const { body: instanceBody } = create();

export default function CreateInstance() {
  const [search] = useSearchParams();
  const [serverId, backupId, modelId] = [search.get("server"), search.get("backup"), search.get("like")];
  return <CreateFrom key={`${serverId} ${backupId} ${modelId}`} serverId={serverId} backupId={backupId} modelId={modelId} />;
}

interface FromProps {
  /** The server and the backup that a link names. */
  serverId: string | null;
  backupId: string | null;
  /** An instance whose creation failed, to try again with its server and the backup that it began with. */
  modelId: string | null;
}

function CreateFrom({ modelId, ...link }: FromProps) {
  const [created, setCreated] = useState<CreatedInstance>();
  const model = useQuery({
    ...instances.one(modelId ?? ""),
    enabled: ({ state }) => modelId !== null && !isMissing(state.error),
  });
  const failedOne = model.data?.data;
  const serverId = link.serverId ?? failedOne?.server_id ?? null;
  const backupId = link.backupId ?? failedOne?.cloned_from_backup_id ?? null;
  const offered = useQuery(catalog());
  const active = useActiveServers();
  const { usable, isPending } = useLinkedServer(serverId, active);
  const backup = useQuery({
    ...backups.one(backupId ?? ""),
    enabled: ({ state }) => backupId !== null && !isMissing(state.error),
  });
  const loaded = !model.isLoading && active.total !== undefined && !isPending && (backupId === null || !backup.isPending);
  const isKept = failedOne !== undefined && !canCreateAgain(failedOne);
  const wasShown = useWasEver(loaded && active.total !== 0 && !isKept);
  const failed = offered.error ?? active.error;
  // Without them the form would install an empty ERP.
  const failedQuery = [model, backup].find(({ data, error }) => data === undefined && error !== null);
  if (isKept && !wasShown) return <Navigate to={`/instances/${failedOne.id}`} replace />;
  // What the failed attempt copied, and whether it reset the users, is not stored: the form of clones asks for it.
  const source = backup.data?.data.instance_id ?? null;
  if (failedOne !== undefined && source !== null)
    return <Navigate to={`/instances/${source}/clone?backup=${backupId}&like=${failedOne.id}`} replace />;
  return (
    <Page title={text.instances.create.title} above={[{ text: text.instances.title, href: "/instances" }]}>
      {failedQuery !== undefined ? (
        <Failure error={failedQuery.error} retry={isMissing(failedQuery.error) ? undefined : () => void failedQuery.refetch()} />
      ) : offered.data !== undefined && wasShown ? (
        <InstanceForm
          offered={offered.data.data}
          active={{ ...active, items: [...usable, ...active.items.filter(({ id }) => id !== usable[0]?.id)] }}
          serverId={chosenOf(active.items, usable[0] ?? active.items.find(({ id }) => id === serverId))}
          backup={backup.data?.data}
          model={failedOne}
          onCreated={setCreated}
        />
      ) : offered.data !== undefined && loaded ? (
        <NoServer purpose={text.instances.create.needsServer} />
      ) : failed === null ? (
        <Spinner size="large" />
      ) : (
        <Failure
          error={failed}
          retry={() => {
            void offered.refetch();
            active.retry();
          }}
        />
      )}
      {created !== undefined && <AfterCreation created={created} />}
    </Page>
  );
}

/** The server that a link names, which may not be on the first page of those that are active. */
function useLinkedServer(serverId: string | null, active: ReturnType<typeof useActiveServers>) {
  const isFurther = serverId !== null && active.total !== undefined && !active.items.some(({ id }) => id === serverId);
  const { data, isPending } = useQuery({
    ...servers.one(serverId ?? ""),
    enabled: ({ state }) => isFurther && !isMissing(state.error),
  });
  return { isPending: isFurther && isPending, usable: data !== undefined && isUsable(data.data) ? [data.data] : [] };
}

/** The server that a link named, or the only one. */
function chosenOf(active: readonly { id: string }[], linkedServer: { id: string } | undefined): string {
  const [first, second] = active;
  return linkedServer?.id ?? (second === undefined ? (first?.id ?? "") : "");
}

interface Props {
  offered: Catalog;
  active: Pages<ListedServer>;
  serverId: string;
  /** The instance begins with its data. */
  backup: Backup | undefined;
  /** What failed, and is deleted first: it holds the name, the domain and the database. */
  model: Instance | undefined;
  onCreated: (created: CreatedInstance) => void;
}

interface Values {
  name: string;
  server_id: string;
  erp_version: string;
  edition: Edition;
  database_name: string;
  admin_email: string;
  domain: string;
  neutralize: boolean;
  accept_missing_files: boolean;
  admin_password: string;
}

const toBody = (
  { name, domain, admin_email, admin_password, neutralize, accept_missing_files, ...values }: Values,
  backup: Backup | undefined,
) => ({
  ...values,
  name: name.trim(),
  domain: domain.trim().toLowerCase(),
  admin_email: admin_email.trim(),
  ...(backup !== undefined && { backup_id: backup.id, neutralize }),
  ...(accept_missing_files && { accept_missing_files }),
  ...(admin_password !== "" && { admin_password }),
});

const useInstanceForm = ({ offered, serverId, backup, model, onCreated }: Omit<Props, "active">) =>
  useForm({
    of: model?.id ?? backup?.id ?? "",
    initial: {
      name: model?.name ?? "",
      server_id: serverId,
      erp_version:
        backup?.erp_version ?? model?.erp_version ?? offered.erp_versions.find(({ deprecated }) => !deprecated)?.version ?? "",
      edition: backup?.edition ?? model?.edition ?? offered.editions[0] ?? EDITIONS[0],
      database_name: model?.database_name ?? "",
      admin_email: model?.admin_email ?? session()?.user.email ?? "",
      domain: model?.domain ?? "",
      neutralize: model?.neutralized ?? (backup !== undefined && backup.kind !== "uploaded"),
      accept_missing_files: false,
      admin_password: "",
    },
    schema: instanceBody,
    body: (values) => ({ ...toBody(values, backup), ...labelsInBody(model?.labels) }),
    send: async (body, idempotencyKey) => {
      if (model !== undefined) await deleteFirst(() => client.instances.delete({ params: { id: model.id } }));
      return client.instances.create({ body, idempotencyKey });
    },
    done: ({ data }) => onCreated(data),
  });

function InstanceForm({ active, ...props }: Props) {
  const { offered, backup, model } = props;
  const { fields, create: say } = text.instances;
  const navigate = useNavigate();
  const form = useInstanceForm(props);
  const { name, database_name, server_id, erp_version, edition } = form.values;
  const chosen = active.items.find(({ id }) => id === server_id);
  /** Follows the name until the user changes it. */
  const rename = (next: string) =>
    form.set({
      name: next,
      ...(database_name === databaseNameFrom(name) && { database_name: databaseNameFrom(next) }),
    });
  return (
    <Form form={form} secret submit={say.title} onCancel={() => void navigate("/instances")}>
      {model !== undefined && <DeletesFirst model={model} />}
      <NameField {...form.text("name")} onChange={rename} />
      <ServerField
        label={fields.server}
        placeholder={text.instances.form.chooseServer}
        pages={active}
        chosen={form.values.server_id}
        error={form.error("server_id")}
        onChange={(server_id) => form.set({ server_id })}
      />
      {backup === undefined && chosen !== undefined && <LowDisk server={chosen} inForm />}
      {backup === undefined ? (
        <ErpFields offered={offered} chosen={form.values} error={form.error} onChange={form.set} />
      ) : (
        <BackupFields backup={backup} neutralize={form.values.neutralize} error={form.error} onChange={form.set} />
      )}
      <AcceptMissingFiles
        backup={backup}
        accepted={form.values.accept_missing_files}
        onChange={(accept_missing_files) => form.set({ accept_missing_files })}
      />
      <TextField label={fields.domain} description={say.domainAbout} placeholder="shop.example.com" {...form.text("domain")} />
      <TextField label={fields.databaseName} hint={say.databaseNameHint} {...form.text("database_name")} />
      <TextField label={fields.adminEmail} description={say.adminEmailAbout} type="email" {...form.text("admin_email")} />
      <AdminPasswordField {...form.text("admin_password")} />
      <CarriedLabels of={model?.labels} />
      {backup === undefined && chosen !== undefined && (
        <div role="status">{say.follows(versionOf({ erp_version, edition }), chosen.name)}</div>
      )}
      {backup !== undefined && model === undefined && (
        <SettledForecast
          schema={instanceBody}
          body={toBody(form.values, backup)}
          rehearse={(body) => client.instances.create.dryRun({ body })}
          of={backup.id}
          error={form.error}
          returns={false}
        />
      )}
    </Form>
  );
}

interface BackupFieldsProps {
  backup: Backup;
  neutralize: boolean;
  error: (field: string) => string | undefined;
  onChange: (changes: { neutralize: boolean }) => void;
}

/** What the backup decides, it says here, with what is wrong with it. */
function BackupFields({ backup, neutralize, error, onChange }: BackupFieldsProps) {
  const say = text.instances.create;
  return (
    <SpaceBetween size="l">
      <FormField errorText={error("backup_id") ?? error("erp_version") ?? error("edition")}>
        <Alert type="info" header={say.beginsWith(backup, backupTime(backup))}>
          {say.odoo(versionOf(backup))} {backup.kind === "uploaded" && say.keepsUuid}
        </Alert>
      </FormField>
      <Checkbox
        checked={neutralize}
        description={neutralize ? say.neutralizeOn : say.neutralizeOff}
        onChange={({ detail }) => onChange({ neutralize: detail.checked })}
      >
        {say.neutralize}
      </Checkbox>
    </SpaceBetween>
  );
}
