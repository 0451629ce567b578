// The dialog that restores a backup: says what it replaces, and continues only once the user typed the instance's name.
import Alert from "@cloudscape-design/components/alert";
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import Modal from "@cloudscape-design/components/modal";
import RadioGroup from "@cloudscape-design/components/radio-group";
import Spinner from "@cloudscape-design/components/spinner";
import { type ReactNode, useState } from "react";
import { flushSync } from "react-dom";
import { useNavigate } from "react-router";
import * as z from "zod";
import { restore, type Backup } from "../../../shared/api/backups.ts";
import { RESTORABLE } from "../../../shared/domain/lifecycle.ts";
import { nameOfBackup } from "../../../shared/domain/backup-name.ts";
import type { Instance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { Link } from "../app/link.tsx";
import { backups, instances } from "../app/queries.ts";
import type { Part } from "../messages/en/backup-dialogs.ts";
import { text } from "../messages/text.ts";
import { Forecast } from "../resource/dialog/forecast.tsx";
import { Chooser } from "../resource/form/chooser.tsx";
import { RecordDialog } from "../resource/dialog/record-dialog.tsx";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { TextField } from "../resource/form/form.tsx";
import { isSameName } from "../resource/dialog/same-name.ts";
import { usePages } from "../resource/page/use-pages.ts";
import { useForm } from "../resource/form/use-form.ts";
import { backupOption, copyPage, backupTime } from "./words.ts";

const { body: restoreBody } = restore();

interface Props {
  backup: Backup;
  onDismiss: () => void;
}

export function Restore({ backup, onDismiss }: Props) {
  // The user types the instance's current name; the backup has the name of its time.
  return (
    <RecordDialog
      title={text.backupDialogs.restore.title(nameOfBackup(backup))}
      question={instances.one(String(backup.instance_id))}
      onDismiss={onDismiss}
    >
      {(instance) => <RestoreForm backup={backup} instance={instance} onDismiss={onDismiss} />}
    </RecordDialog>
  );
}

/** The newest backup of the instance, unless the user chooses another one. A newer one does not take its place meanwhile. */
export function RestoreAny({ instance, onDismiss }: { instance: Instance; onDismiss: () => void }) {
  const say = text.backupDialogs.restore;
  const pages = usePages(backups.listOf(instance.id), { status: RESTORABLE[0] }, { searchable: false });
  const [chosen, setChosen] = useState<string>();
  const [newest] = pages.items;
  if (chosen === undefined && newest !== undefined) setChosen(newest.id);
  const backup = pages.items.find(({ id }) => id === chosen);
  const chooser = (
    <Chooser
      label={say.backup}
      pages={pages}
      optionOf={backupOption}
      placeholder={say.backup}
      plural={say.backups}
      empty={say.none}
      chosen={backup?.id ?? ""}
      error={backup === undefined ? say.gone : undefined}
      onChange={setChosen}
    />
  );
  if (backup === undefined)
    return (
      <Modal visible header={say.title(instance.name)} onDismiss={onDismiss}>
        {pages.error !== null ? (
          <Failure error={pages.error} retry={pages.retry} />
        ) : pages.pending ? (
          <Spinner size="large" />
        ) : newest === undefined ? (
          say.none
        ) : (
          chooser
        )}
      </Modal>
    );
  return (
    <RestoreForm backup={backup} instance={instance} onDismiss={onDismiss}>
      {chooser}
    </RestoreForm>
  );
}

const PARTS: Record<Part, { restore_database: boolean; restore_filestore: boolean }> = {
  all: { restore_database: true, restore_filestore: true },
  database: { restore_database: true, restore_filestore: false },
  files: { restore_database: false, restore_filestore: true },
};
const isPart = (value: string): value is Part => Object.hasOwn(PARTS, value);
const partOptions = () => Object.entries(text.backupDialogs.restore.part).map(([value, label]) => ({ value, label }));

interface Choices {
  part: Part;
  backup_first: boolean;
  neutralize: boolean;
}

function toBody({ part, backup_first, neutralize }: Choices) {
  const { restore_database, restore_filestore } = PARTS[part];
  return { restore_database, restore_filestore, backup_first, neutralize: neutralize && restore_database };
}

const nothingChosen: Choices & { confirmation: string } = {
  part: "all",
  backup_first: true,
  neutralize: false,
  confirmation: "",
};

function useRestoreForm({ backup, instance, onDismiss }: Props & { instance: Instance }) {
  const navigate = useNavigate();
  return useForm({
    of: backup.id,
    initial: nothingChosen,
    schema: restoreBody.safeExtend({
      backup_id: z.string(),
      confirmation: z
        .string()
        .refine((typed) => isSameName(typed, instance.name), text.backupDialogs.restore.differs(instance.name)),
    }),
    // The backup belongs to what a retry repeats: another one is another request.
    body: ({ confirmation, ...choices }) => ({ ...toBody(choices), backup_id: backup.id, confirmation }),
    send: ({ restore_database, restore_filestore, backup_first, neutralize }, idempotencyKey) =>
      client.backups.restore({
        params: { id: backup.id },
        body: { restore_database, restore_filestore, backup_first, neutralize },
        idempotencyKey,
      }),
    done: () => {
      flushSync(onDismiss); // returns the focus to the backup, and the page scrolls there
      void navigate(`/instances/${instance.id}`); // to the top, where the progress is
      window.scrollTo(0, 0);
      document.getElementById("main")?.focus({ preventScroll: true });
    },
  });
}

function RestoreForm({ backup, instance, onDismiss, children }: Props & { instance: Instance; children?: ReactNode }) {
  const say = text.backupDialogs.restore;
  const form = useRestoreForm({ backup, instance, onDismiss });
  const [confirmedId, setConfirmedId] = useState(backup.id);
  // What was typed to confirm one backup confirms no other.
  if (confirmedId !== backup.id) {
    setConfirmedId(backup.id);
    form.set({ confirmation: "" });
  }
  const { part, backup_first, neutralize } = form.values;
  const body = toBody(form.values);
  return (
    <FormDialog title={say.title(instance.name)} form={form} submit={say.submit} destructive onDismiss={onDismiss}>
      {children}
      <Alert type="warning">{say.about({ part, at: backupTime(backup), backupFirst: backup_first })}</Alert>
      <Link to={copyPage(backup)}>{say.toNew}</Link>
      <FormField label={say.parts} errorText={form.error("restore_database")}>
        <RadioGroup
          value={part}
          items={partOptions()}
          onChange={({ detail }) => isPart(detail.value) && form.set({ part: detail.value })}
        />
      </FormField>
      <Checkbox
        checked={backup_first}
        description={say.backupFirstAbout}
        onChange={({ detail }) => form.set({ backup_first: detail.checked })}
      >
        {say.backupFirst}
      </Checkbox>
      <Checkbox
        checked={neutralize && PARTS[part].restore_database}
        disabled={!PARTS[part].restore_database}
        description={say.neutralizeAbout}
        onChange={({ detail }) => form.set({ neutralize: detail.checked })}
      >
        {say.neutralize}
      </Checkbox>
      <Forecast rehearse={() => client.backups.restore.dryRun({ params: { id: backup.id }, body })} of={[backup.id, body]} />
      <TextField label={say.confirm(instance.name)} {...form.text("confirmation")} />
    </FormDialog>
  );
}
