// What can be done with many backups at once.
import type { Backup } from "../../../shared/api/backups.ts";
import { LIFECYCLE } from "../../../shared/domain/lifecycle.ts";
import { whyNotDelete, whyNotDrill, whyNotEdit } from "../allowed/backups.ts";
import { BACKUP_NEEDS } from "../allowed/needs.ts";
import { BulkMenu, type Kind } from "../bulk/menu.tsx";
import { text } from "../messages/text.ts";
import type { SelectedProps } from "../resource/list/use-selection.ts";
import { backupName } from "./words.ts";

/** What the operation that holds it makes of it decides, unless that is its deletion. */
const isWaitedFor = ({ operation_id, status }: Backup): boolean =>
  operation_id !== null && status !== LIFECYCLE["backup.delete"].through;

/** A lock stays, whatever the operation that holds it does; and what a restore reads is waited for, too. */
const whyNeverDeleted = (backup: Backup): string | undefined =>
  isWaitedFor(backup) && !backup.locked ? undefined : whyNotDelete({ ...backup, operation_id: null }, []);

const BACKUPS: Kind<Backup> = {
  one: "backup",
  needs: BACKUP_NEEDS,
  nameOf: backupName,
  actions: [
    ["lock", (backup) => whyNotEdit(backup) ?? (backup.locked ? text.bulk.alreadyLocked : undefined)],
    ["unlock", (backup) => whyNotEdit(backup) ?? (backup.locked ? undefined : text.bulk.notLocked)],
    ["drill", (backup) => (isWaitedFor(backup) ? undefined : whyNotDrill(backup))],
    ["set_labels", whyNotEdit],
    ["delete", whyNeverDeleted],
  ],
};

export const BackupsBulk = (props: SelectedProps<Backup>) => <BulkMenu kind={BACKUPS} {...props} />;
