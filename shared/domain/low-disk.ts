// When a server's disk counts as low: its users should act before backups and restores fail, and long before anything is paused.

/** Percent of the disk that instances can still get: below the first it is low, below the second an instance may be paused. */
export const DISK_STEPS = [15, 5] as const;

/** An alert closes a fifth beyond the step at which it opened, so that it does not flap. */
const CLOSES_AT = 1.2;

/** The lowest step that the free space is below; null if there is none. `open` is the one of an alert that has not closed. */
export function diskStep(freeBytes: number, sizeBytes: number, open: number | null = null): number | null {
  const percent = (100 * freeBytes) / sizeBytes;
  const below = DISK_STEPS.filter((step) => percent < (open !== null && step >= open ? step * CLOSES_AT : step));
  return below.at(-1) ?? null;
}

const GB = 1_000_000_000;

/** What a server that has not reported the size of its disk has by its size in the catalog. */
export const diskSize = ({ disk_size_bytes, specs }: { disk_size_bytes?: number | null; specs: { disk_gb: number } }): number =>
  disk_size_bytes ?? specs.disk_gb * GB;

export const percentFree = (freeBytes: number, sizeBytes: number): number => Math.floor((100 * freeBytes) / sizeBytes);

/** An instance's alert about its quota closes a fifth below. */
export const isOverQuota = (usedBytes: number, quotaBytes: number | null, open: boolean): boolean =>
  quotaBytes !== null && usedBytes > (open ? 0.8 : 1) * quotaBytes;
