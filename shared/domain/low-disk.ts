// When a server's disk counts as low: its users should act before backups and restores fail, and long before the databases stop.

const GB = 1_000_000_000;

/** A tenth of the disk, at most 10 GB: room for a backup, and for the data of a restore beside the present data, of an instance of usual size. */
const lowDiskBytes = (diskGb: number): number => Math.min(diskGb / 10, 10) * GB;

export const isLowDisk = (freeBytes: number, diskGb: number): boolean => freeBytes < lowDiskBytes(diskGb);
