// What backups are made for.
export const BACKUP_KINDS = ["manual", "pre_restore", "pre_deploy", "scheduled", "uploaded"] as const;

/** Backups that operations take before they replace data: they count in no quota and protect no instance. */
const SAFETY_KINDS: readonly string[] = ["pre_restore", "pre_deploy"];

export const isSafetyBackup = ({ kind }: { kind: string }): boolean => SAFETY_KINDS.includes(kind);
