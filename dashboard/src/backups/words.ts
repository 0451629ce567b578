// Names of backups, in words.
import type { Backup } from "../../../shared/api/backups.ts";
import { inShort } from "../resource/moment.ts";
import { sizeInWords } from "../resource/size.ts";

const KINDS: Readonly<Record<string, string>> = {
  manual: "Manual",
  pre_restore: "Pre-restore",
  scheduled: "Scheduled",
} satisfies Record<Backup["kind"], string>;

/** A newer service may know more kinds than this page. */
export const kindInWords = (kind: string): string => KINDS[kind] ?? kind;

/** A backup has no name: its time identifies it. */
export const momentOf = ({ created_at }: Pick<Backup, "created_at">): string => inShort(created_at);

/** A backup in a selection list: when, how large, what kind, of which version, and what for. */
export const backupOption = (backup: Backup) => ({
  label: momentOf(backup),
  labelTag: sizeInWords(backup.size_bytes),
  description: [kindInWords(backup.kind), `${backup.erp_version} ${backup.edition}`, backup.note]
    .filter((each) => each !== null)
    .join(" · "),
});
