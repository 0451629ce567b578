// Names of backups, in words.
import type { Backup } from "../../../shared/api/backups.ts";
import type { Drill, DrillCheck } from "../../../shared/api/drill.ts";
import { text } from "../messages/text.ts";
import { formatTime } from "../resource/words/moment.ts";
import { sizeInWords } from "../resource/words/size.ts";

/** A newer service may know more names than this page. */
function wordFor(name: string, words: Readonly<Record<string, string>>): string {
  return words[name] ?? name;
}

export const kindInWords = (kind: Backup["kind"]): string => wordFor(kind, text.backups.kinds);

/** A backup has no name: its time identifies it. */
export const backupTime = ({ created_at }: Pick<Backup, "created_at">): string => formatTime(created_at);

/** Returns what is shown where there is only a name: the instance's or the uploaded file's, and the time. */
export const backupName = (backup: Pick<Backup, "created_at" | "instance_name" | "file_name">): string =>
  [backup.instance_name ?? backup.file_name, backupTime(backup)].filter((each) => each !== null).join(", ");

/** The page that makes an instance of it: an uploaded one has none to be a clone of. */
export const copyPage = ({ id, instance_id }: Pick<Backup, "id" | "instance_id">): string =>
  instance_id === null ? `/instances/create?backup=${id}` : `/instances/${instance_id}/clone?backup=${id}`;

/** An uploaded archive's version is unknown until it was examined. */
export const versionOf = ({ erp_version, edition }: Pick<Backup, "erp_version" | "edition">): string =>
  erp_version === null || edition === null ? "–" : `${erp_version} ${edition}`;

export const checkInWords = (name: DrillCheck["name"]): string => wordFor(name, text.backups.checks);

const drillInWords = (drill: Pick<Drill, "status"> | null): string | null =>
  drill === null ? null : wordFor(drill.status, text.backups.drilled);

/** "Scheduled, Jan 12, 2027, 02:03:15, completed, restore drill passed". */
export const backupInWords = (
  backup: Pick<Backup, "kind" | "created_at"> & { drill: Pick<Drill, "status"> | null },
  status: string,
): string =>
  [kindInWords(backup.kind), backupTime(backup), status.toLowerCase(), drillInWords(backup.drill)]
    .filter((each) => each !== null)
    .join(", ");

/** A backup in a selection list: when, how large, what kind, of which version, what for, and whether a drill restored it. */
export const backupOption = (backup: Backup) => ({
  label: backupTime(backup),
  labelTag: sizeInWords(backup.size_bytes),
  description: [kindInWords(backup.kind), versionOf(backup), drillInWords(backup.drill), backup.note]
    .filter((each) => each !== null)
    .join(" · "),
});
