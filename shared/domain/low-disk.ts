// A server's disk counts as low by these rules: its users should act before backups and restores fail, and long before anything
// is paused.

/** Percent of the disk that instances can still get: below the first it is low, below the second an instance may be paused. */
export const DISK_STEPS = [15, 5] as const;

/** A disk that was low is until a fifth more than the step is free, so that it does not change from report to report. */
const UNTIL = 1.2;

/** The lowest step that the free space is below; null if there is none. `before` is the one that it was below. */
export function diskStep(freeBytes: number, sizeBytes: number, before: number | null = null): number | null {
  const percent = (100 * freeBytes) / sizeBytes;
  const below = DISK_STEPS.filter((step) => percent < (before !== null && step >= before ? step * UNTIL : step));
  return below.at(-1) ?? null;
}

const GB = 1_000_000_000;

/** What a server that has not reported the size of its disk has by its size in the catalog. */
export const diskSize = ({ disk_size_bytes, specs }: { disk_size_bytes?: number | null; specs: { disk_gb: number } }): number =>
  disk_size_bytes ?? specs.disk_gb * GB;
