// The actions of one backup, behind a button in its row.
import { useState } from "react";
import { useNavigate } from "react-router";
import type { Backup } from "../../../shared/api/backups.ts";
import { useRunning } from "../operations/watch.ts";
import { type Home, whyNotDelete, whyNotDrill, whyNotEdit, whyNotRead, whyNotRestore } from "../allowed/backups.ts";
import { BACKUP_NEEDS } from "../allowed/needs.ts";
import { text } from "../messages/text.ts";
import { RowMenu } from "../resource/list/row-menu.tsx";
import { sendDownload, useDownload } from "./download.ts";
import { copyPage, backupTime } from "./words.ts";
import { lazily } from "../app/lazily.tsx";

const ApiCallDialog = lazily(async () => (await import("../resource/dialog/api-call.tsx")).ApiCallDialog);

interface Props {
  backup: Backup;
  useHome: (backup: Backup) => Home;
  onRestore: () => void;
  onDrill: () => void;
  onEdit: () => void;
  onDelete: () => void;
}

export function BackupMenu({ backup, useHome, onRestore, onDrill, onEdit, onDelete }: Props) {
  const say = text.backups.menu;
  const navigate = useNavigate();
  const download = useDownload();
  const [calling, setCalling] = useState(false);
  const item = (id: keyof typeof BACKUP_NEEDS, label: string, disabledReason: string | undefined) => ({
    id,
    text: label,
    disabledReason,
    needs: BACKUP_NEEDS[id],
  });
  const handlers: Readonly<Record<string, () => void>> = {
    restore: onRestore,
    drill: onDrill,
    clone: () => void navigate(copyPage(backup)),
    download: () => download(backup),
    "download-call": () => setCalling(true),
    edit: onEdit,
    delete: onDelete,
  };
  return (
    <>
      <RowMenu
        label={say.label(backup, backupTime(backup))}
        items={[
          item("restore", say.restore, whyNotRestore(backup, useHome(backup))),
          item("drill", say.drill, whyNotDrill(backup)),
          item("clone", backup.instance_id === null ? say.create : say.clone, whyNotRead(backup)),
          item("download", say.download, whyNotRead(backup)),
          item("download-call", say.downloadCall, undefined),
          item("edit", say.edit, whyNotEdit(backup)),
          item("delete", say.delete, whyNotDelete(backup, useRunning())),
        ]}
        onChoose={(id) => handlers[id]?.()}
      />
      {calling && (
        <ApiCallDialog title={say.downloadTitle} send={() => sendDownload(backup)} onDismiss={() => setCalling(false)} />
      )}
    </>
  );
}
