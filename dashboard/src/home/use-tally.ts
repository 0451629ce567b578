// How many servers, instances and backups there are, by status: all from one request, which the page makes anyway.
import { useQuery } from "@tanstack/react-query";
import type { Overview } from "../../../shared/api/overview.ts";
import type { ResourceType } from "../../../shared/domain/lifecycle.ts";
import { overview } from "../app/queries.ts";
import type { STATUSES } from "../resource/words/status.tsx";

/** The states in which a resource rests; all others lead to one of these. */
export const RESTING: Record<ResourceType, readonly string[]> = {
  server: ["active", "offline"],
  instance: ["running", "stopped", "failed"],
  backup: ["completed", "failed"],
} satisfies { [K in ResourceType]: readonly (keyof (typeof STATUSES)[K])[] };

export interface Tally {
  total: number;
  count: (status: string) => number;
}

const tallyOf = (counted: { total: number; status: Readonly<Record<string, number>> } | undefined): Tally => ({
  total: counted?.total ?? 0,
  count: (status) => counted?.status[status] ?? 0,
});

type LowDisks = NonNullable<Overview["servers"]>["low_disk"];

/** An older service says nothing of disks. */
const lowDisksIn = ({ low_disk = NO_DISKS }: Partial<NonNullable<Overview["servers"]>>): LowDisks => low_disk;
const NO_DISKS: LowDisks = { below_15_percent: 0, below_5_percent: 0 };

/** An older service says nothing of images and reboots. */
const updatesIn = ({ update_available = 0 }: Partial<NonNullable<Overview["instances"]>>): number => update_available;
const rebootsIn = ({ needs_reboot = 0 }: Partial<NonNullable<Overview["servers"]>>): number => needs_reboot;

export interface Tallies {
  servers: Tally;
  instances: Tally;
  backups: Tally;
  lowDisks: LowDisks;
  protection: NonNullable<Overview["instances"]>["protection"] | undefined;
  /** Instances for which there is a newer image. */
  updates: number;
  /** Servers that need a reboot. */
  reboots: number;
  /** Alerts that the user may read. */
  openAlerts: number;
}

export function useTallies() {
  const { data, error, refetch, dataUpdatedAt } = useQuery({ ...overview(), retry: false });
  const counts = data?.data;
  const tallies: Tallies | undefined = counts && {
    servers: tallyOf(counts.servers),
    instances: tallyOf(counts.instances),
    backups: tallyOf(counts.backups),
    lowDisks: lowDisksIn(counts.servers ?? {}),
    protection: counts.instances?.protection,
    updates: updatesIn(counts.instances ?? {}),
    reboots: rebootsIn(counts.servers ?? {}),
    openAlerts: counts.alerts?.open ?? 0,
  };
  return { tallies, updatedAt: dataUpdatedAt, error: data === undefined ? error : null, retry: () => void refetch() };
}
