// Tries a failed import again, whose archive is still stored: the button, and the dialog that chooses the server.
import Button from "@cloudscape-design/components/button";
import { useState } from "react";
import { import as importBackup, type Backup } from "../../../shared/api/backups.ts";
import { canImportAgain } from "../allowed/backups.ts";
import { needsOf, useMay } from "../app/may.tsx";
import { client } from "../app/client.ts";
import { text } from "../messages/text.ts";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { formatTime } from "../resource/words/moment.ts";
import { useForm } from "../resource/form/use-form.ts";
import { ServerField, useActiveServers } from "../servers/server-field.tsx";

const { body } = importBackup();

export function ImportAgain({ backup }: { backup: Backup }) {
  const [asking, setAsking] = useState(false);
  const may = useMay();
  if (!canImportAgain(backup) || !may(...needsOf("/backups/upload"))) return null;
  return (
    <>
      <Button onClick={() => setAsking(true)}>{text.backupDialogs.importAgain.open}</Button>
      {asking && <ChooseServer backup={backup} onDismiss={() => setAsking(false)} />}
    </>
  );
}

function ChooseServer({ backup, onDismiss }: { backup: Backup; onDismiss: () => void }) {
  const { importAgain: say, drill } = text.backupDialogs;
  const active = useActiveServers();
  const form = useForm({
    of: backup.id,
    initial: { server_id: "" },
    schema: body,
    body: ({ server_id }) => ({ server_id }),
    send: (body, idempotencyKey) => client.backups.import({ params: { id: backup.id }, body, idempotencyKey }),
    done: onDismiss,
  });
  return (
    <FormDialog title={say.title(backup, formatTime(backup.created_at))} form={form} submit={say.submit} onDismiss={onDismiss}>
      {backup.expires_at !== null && say.about(formatTime(backup.expires_at))}
      <ServerField
        only
        label={drill.server}
        placeholder={drill.chooseServer}
        pages={active}
        chosen={form.values.server_id}
        error={form.error("server_id")}
        onChange={(server_id) => form.set({ server_id })}
      />
    </FormDialog>
  );
}
