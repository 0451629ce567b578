// The form that creates a new instance from a backup.
import Alert from "@cloudscape-design/components/alert";
import Checkbox from "@cloudscape-design/components/checkbox";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import FormField from "@cloudscape-design/components/form-field";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { type ReactNode, useState } from "react";
import { useNavigate } from "react-router";
import type { Backup } from "../../../shared/api/backups.ts";
import { api } from "../../../shared/api/index.ts";
import type { Instance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { backupOption } from "../backups/words.ts";
import { Chooser } from "../resource/chooser.tsx";
import { Form, TextField } from "../resource/form.tsx";
import { given, useForm } from "../resource/use-form.ts";
import type { Pages } from "../resource/use-pages.ts";
import type { Made } from "./after-making.tsx";
import { NameField } from "./name-field.tsx";
import { ServerField, useActiveServers } from "./server-field.tsx";

interface Props {
  /** The instance of the backups, unless it was deleted. */
  source: { id: string; instance: Instance | undefined };
  offered: Pages<Backup>;
  /** Its ID; empty if the user still has to choose one. */
  chosen: string;
  onMade: (made: Made) => void;
}

const useCloneForm = (id: string, chosen: string, onMade: Props["onMade"]) =>
  useForm({
    initial: {
      backup_id: chosen,
      name: "",
      domain: "",
      neutralize: true,
      reset_users: true,
      restore_database: true,
      restore_filestore: true,
      server_id: "",
      database_name: "",
      admin_password: "",
    },
    schema: api.instances.clone.body,
    body: ({ name, domain, server_id, database_name, admin_password, ...values }) => ({
      ...values,
      name: name.trim(),
      domain: domain.trim().toLowerCase(),
      server_id: given(server_id),
      database_name: given(database_name),
      admin_password: admin_password === "" ? undefined : admin_password,
    }),
    send: (body, idempotencyKey) => client.instances.clone({ params: { id }, body, idempotencyKey }),
    done: ({ data }) => onMade(data),
  });

export function CloneForm({ source: { id, instance }, offered, chosen, onMade }: Props) {
  const navigate = useNavigate();
  const form = useCloneForm(id, chosen, onMade);
  const server = (
    <ServerField
      label="Server"
      placeholder={instance === undefined ? "Choose an active server" : "Same server"}
      {...(instance === undefined && { description: "The original instance was deleted, so choose a server." })}
      pages={useActiveServers()}
      chosen={form.values.server_id}
      error={form.error("server_id")}
      onChange={(server_id) => form.set({ server_id })}
    />
  );
  return (
    <Form
      form={form}
      submit="Create clone"
      onCancel={() => void navigate(instance === undefined ? "/backups" : `/instances/${id}`)}
    >
      <Chooser
        label="Backup"
        description="The clone starts with this backup's data and Odoo version."
        error={form.error("backup_id")}
        pages={offered}
        optionOf={backupOption}
        placeholder="Choose a backup"
        what="backups"
        empty="No completed backups"
        chosen={form.values.backup_id}
        onChange={(backup_id) => form.set({ backup_id })}
      />
      <NameField {...form.text("name")} />
      <TextField
        label="Domain"
        description="The clone needs its own domain. You'll get the DNS record to create afterwards."
        placeholder="staging.example.com"
        {...form.text("domain")}
      />
      {instance === undefined && server}
      <Parts values={form.values} error={form.error("restore_database")} onChange={form.set} />
      <Neutralize
        chosen={form.values.neutralize}
        // A copy for tests locks out other users; one that replaces the original lets them in.
        onChange={(neutralize) => form.set({ neutralize, reset_users: neutralize })}
      />
      <Checkbox
        checked={form.values.reset_users}
        description="Everyone but the administrator needs a new password on the clone. Their sessions and API keys stop working there."
        onChange={({ detail }) => form.set({ reset_users: detail.checked })}
      >
        Reset users
      </Checkbox>
      <MoreOptions wrong={["server_id", "database_name", "admin_password"].some((field) => form.error(field) !== undefined)}>
        {instance !== undefined && server}
        <DatabaseFields text={form.text} />
      </MoreOptions>
    </Form>
  );
}

interface Taken {
  restore_database: boolean;
  restore_filestore: boolean;
}

function Parts({
  values,
  error,
  onChange,
}: {
  values: Taken;
  error: string | undefined;
  onChange: (news: Partial<Taken>) => void;
}) {
  return (
    <FormField label="What to copy" errorText={error}>
      <SpaceBetween size="xs">
        <Checkbox
          checked={values.restore_database}
          description="If off, the clone starts with an empty database."
          onChange={({ detail }) => onChange({ restore_database: detail.checked })}
        >
          Database
        </Checkbox>
        <Checkbox
          checked={values.restore_filestore}
          description="Attachments, images and documents."
          // An error of both appears at the database; changing either clears it.
          onChange={({ detail }) => onChange({ restore_filestore: detail.checked, restore_database: values.restore_database })}
        >
          Files
        </Checkbox>
      </SpaceBetween>
    </FormField>
  );
}

function Neutralize({ chosen, onChange }: { chosen: boolean; onChange: (chosen: boolean) => void }) {
  return (
    <SpaceBetween size="s">
      <Checkbox
        checked={chosen}
        description="Turns off scheduled actions, email and payments in the clone, so your tests never reach real customers."
        onChange={({ detail }) => onChange(detail.checked)}
      >
        Neutralize (recommended)
      </Checkbox>
      {!chosen && (
        <Alert type="warning">
          The clone will send email, run scheduled actions and take payments like the original. Use this only to replace the
          original.
        </Alert>
      )}
    </SpaceBetween>
  );
}

function DatabaseFields({ text }: Pick<ReturnType<typeof useCloneForm>, "text">) {
  return (
    <>
      <TextField
        label="Database name"
        optional
        placeholder="Generated from the name"
        hint="Lowercase letters, numbers and underscores. Must start with a letter."
        {...text("database_name")}
      />
      <TextField
        label="Admin password"
        optional
        type="password"
        autoComplete="new-password"
        hint="12–128 characters. Leave empty to generate one, shown once."
        {...text("admin_password")}
      />
    </>
  );
}

/** Opens automatically if something in it is invalid. */
function MoreOptions({ wrong, children }: { wrong: boolean; children: ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <ExpandableSection headerText="More options" expanded={open || wrong} onChange={({ detail }) => setOpen(detail.expanded)}>
      <SpaceBetween size="l">{children}</SpaceBetween>
    </ExpandableSection>
  );
}
