// Names and sizes of backups, in words.
import type { Backup } from "../../../shared/api/backups.ts";
import { inShort } from "../resource/moment.ts";

const KINDS: Readonly<Record<string, string>> = { manual: "Manual", pre_restore: "Pre-restore" } satisfies Record<
  Backup["kind"],
  string
>;

/** A newer service may know more kinds than this page. */
export const kindInWords = (kind: string): string => KINDS[kind] ?? kind;

/** A backup has no name: its time identifies it. */
export const momentOf = ({ created_at }: Pick<Backup, "created_at">): string => inShort(created_at);

const UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const;

export function sizeInWords(bytes: number | null): string {
  if (bytes === null) return "–";
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  const size = bytes / 1000 ** power;
  return `${power === 0 ? size : size.toPrecision(3)} ${UNITS[power] ?? ""}`;
}

/** A backup in a selection list: when, how large, what kind, of which version, and what for. */
export const backupOption = (backup: Backup) => ({
  label: momentOf(backup),
  labelTag: sizeInWords(backup.size_bytes),
  description: [kindInWords(backup.kind), `${backup.erp_version} ${backup.edition}`, backup.note]
    .filter((each) => each !== null)
    .join(" · "),
});
