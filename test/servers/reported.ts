// What a machine reports about itself, for the tests of servers' checks.
import type { MachineReport } from "../../shared/records/host-reports.ts";

export const GB = 1_000_000_000;

export interface Certificate {
  instance_id: string;
  domain: string;
  expires_at?: string | null;
  failing?: boolean;
}

export const reportWith = (certificates: readonly Certificate[] | undefined): MachineReport => ({
  disk_free_bytes: 20 * GB,
  memory_free_bytes: 2 * GB,
  certificates: certificates?.map((each) => ({
    expires_at: new Date(Date.now() + 30 * 86_400_000).toISOString(),
    failing: false,
    ...each,
  })),
});
