// What can be done with one backup, behind a button in its row.
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import { useNavigate } from "react-router";
import type { Backup } from "../../../shared/api/backups.ts";
import { useRunning } from "../operations/watch.ts";
import { type Home, whyNotDelete, whyNotRead, whyNotRestore } from "../allowed/backups.ts";
import { useDownload } from "./download.ts";
import { momentOf } from "./words.ts";

interface Props {
  backup: Backup;
  home: Home;
  onRestore: () => void;
  onDelete: () => void;
}

export function BackupMenu({ backup, home, onRestore, onDelete }: Props) {
  const navigate = useNavigate();
  const download = useDownload();
  const deed = (id: string, text: string, refused: string | undefined) => ({
    id,
    text,
    // A tooltip is nothing for fingers: the reason stands where everybody reads it.
    ...(refused !== undefined && { disabled: true, secondaryText: refused }),
  });
  const deeds: Readonly<Record<string, () => void>> = {
    restore: onRestore,
    clone: () => void navigate(`/instances/${backup.instance_id}/clone?backup=${backup.id}`),
    download: () => download(backup),
    delete: onDelete,
  };
  return (
    <ButtonDropdown
      variant="inline-icon"
      ariaLabel={`Actions on the backup of ${backup.instance_name}, ${momentOf(backup)}`}
      expandToViewport
      items={[
        deed("restore", "Restore", whyNotRestore(backup, home)),
        deed("clone", "Clone into a new instance", whyNotRead(backup)),
        deed("download", "Download", whyNotRead(backup)),
        deed("delete", "Delete", whyNotDelete(backup, useRunning())),
      ]}
      onItemClick={({ detail }) => deeds[detail.id]?.()}
    />
  );
}
