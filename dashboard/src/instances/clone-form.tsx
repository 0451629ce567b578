// The form that makes a new instance of a backup.
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
import { ServerField, useActiveServers } from "./server-field.tsx";

interface Props {
  /** The instance that the backups are of, unless it was deleted. */
  source: { id: string; instance: Instance | undefined };
  offered: Pages<Backup>;
  /** Its id; empty where that is still to be chosen. */
  chosen: string;
  onMade: (made: Made) => void;
}

export function CloneForm({ source: { id, instance }, offered, chosen, onMade }: Props) {
  const navigate = useNavigate();
  const form = useForm({
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
  const server = (
    <ServerField
      label={instance === undefined ? "Server" : "Another server"}
      placeholder={instance === undefined ? "Choose an active server" : "The same server"}
      {...(instance === undefined && { description: "The instance that this backup is of was deleted." })}
      pages={useActiveServers()}
      chosen={form.values.server_id}
      error={form.error("server_id")}
      onChange={(server_id) => form.set({ server_id })}
    />
  );
  return (
    <Form form={form} submit="Clone" onCancel={() => void navigate(instance === undefined ? "/backups" : `/instances/${id}`)}>
      <Chooser
        label="Backup"
        description="The clone begins as what this backup holds, in its version."
        error={form.error("backup_id")}
        pages={offered}
        optionOf={backupOption}
        placeholder="Choose a backup"
        what="backups"
        empty="There is no completed backup"
        chosen={form.values.backup_id}
        onChange={(backup_id) => form.set({ backup_id })}
      />
      <TextField label="Name" hint="Shown here only, and can be changed." autoFocus {...form.text("name")} />
      <TextField
        label="Domain"
        description="Of its own. You set its DNS record afterwards; the clone's page says which."
        placeholder="staging.example.com"
        {...form.text("domain")}
      />
      {instance === undefined && server}
      <Parts values={form.values} error={form.error("restore_database")} onChange={form.set} />
      <Neutralize
        chosen={form.values.neutralize}
        // A copy to try things on keeps everybody out; one that replaces the original lets everybody in.
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
        <TextField
          label="Database name"
          optional
          placeholder="Made from the name"
          hint="A lower-case letter, then lower-case letters, digits and underscores."
          {...form.text("database_name")}
        />
        <TextField
          label="Administrator's password"
          optional
          type="password"
          autoComplete="new-password"
          hint="12 to 128 characters. Left empty, one is made for you, and shown once."
          {...form.text("admin_password")}
        />
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
    <FormField label="What it takes over" errorText={error}>
      <SpaceBetween size="xs">
        <Checkbox
          checked={values.restore_database}
          description="Without it the clone begins with a fresh database."
          onChange={({ detail }) => onChange({ restore_database: detail.checked })}
        >
          Database
        </Checkbox>
        <Checkbox
          checked={values.restore_filestore}
          description="Attachments, images and documents."
          // What is wrong with both stands at the database: either of them answers it.
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
        description="Scheduled jobs, mail and payments are switched off in the clone, so that it writes to nobody and charges nobody while you try things."
        onChange={({ detail }) => onChange(detail.checked)}
      >
        Neutralize
      </Checkbox>
      {!chosen && (
        <Alert type="warning">
          The clone will do all that the original does: it sends the same mail, runs the same jobs and takes payments. Only right
          where it is to replace the original.
        </Alert>
      )}
    </SpaceBetween>
  );
}

/** Opens by itself where something in it is wrong. */
function MoreOptions({ wrong, children }: { wrong: boolean; children: ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <ExpandableSection headerText="More options" expanded={open || wrong} onChange={({ detail }) => setOpen(detail.expanded)}>
      <SpaceBetween size="l">{children}</SpaceBetween>
    </ExpandableSection>
  );
}
