// The actions of one backup, behind a button in its row.
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import { useNavigate } from "react-router";
import type { Backup } from "../../../shared/api/backups.ts";
import { useRunning } from "../operations/watch.ts";
import { type Home, whyNotDelete, whyNotEdit, whyNotRead, whyNotRestore } from "../allowed/backups.ts";
import { useDownload } from "./download.ts";
import { momentOf } from "./words.ts";

interface Props {
  backup: Backup;
  home: Home;
  onRestore: () => void;
  onEdit: () => void;
  onDelete: () => void;
}

export function BackupMenu({ backup, home, onRestore, onEdit, onDelete }: Props) {
  const navigate = useNavigate();
  const download = useDownload();
  const item = (id: string, text: string, disabledReason: string | undefined) => ({
    id,
    text,
    // Touch screens have no tooltips: the reason is always visible.
    ...(disabledReason !== undefined && { disabled: true, secondaryText: disabledReason }),
  });
  const handlers: Readonly<Record<string, () => void>> = {
    restore: onRestore,
    clone: () => void navigate(`/instances/${backup.instance_id}/clone?backup=${backup.id}`),
    download: () => download(backup),
    edit: onEdit,
    delete: onDelete,
  };
  return (
    <ButtonDropdown
      variant="inline-icon"
      ariaLabel={`Actions on the backup of ${backup.instance_name}, ${momentOf(backup)}`}
      expandToViewport
      items={[
        item("restore", "Restore", whyNotRestore(backup, home)),
        item("clone", "Clone into a new instance", whyNotRead(backup)),
        item("download", "Download", whyNotRead(backup)),
        item("edit", "Edit details", whyNotEdit(backup)),
        item("delete", "Delete", whyNotDelete(backup, useRunning())),
      ]}
      onItemClick={({ detail }) => handlers[detail.id]?.()}
    />
  );
}
