// Backups that operations take before they replace data: they count in no quota and protect no instance.
const SAFETY_KINDS: readonly string[] = ["pre_restore", "pre_deploy"];

export const isSafetyBackup = ({ kind }: { kind: string }): boolean => SAFETY_KINDS.includes(kind);
