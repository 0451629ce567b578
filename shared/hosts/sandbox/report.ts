// What a simulated machine reports about itself: figures as those of a real one with as many ERPs, and which of these cannot be
// used.
import { DAY_MS } from "../../domain/durations.ts";
import type { StatusLine } from "../../operations/monitoring/health.ts";
import type { MachineReport } from "../../records/host-reports.ts";
import { listErps, type SandboxErp, type SandboxMachine } from "../../providers/sandbox/machines.ts";
import { describeImage } from "../../providers/sandbox/images.ts";
import type { Sample } from "../../domain/metrics.ts";
import { inventSamples } from "./metrics.ts";
import { DISK_STEPS } from "../../domain/low-disk.ts";
import { timeOfId } from "../../domain/ids.ts";
import { SANDBOX_CATALOG } from "../../providers/sandbox/catalog.ts";

const MB = 1_000_000;
const GB = 1000 * MB;
/** The system, Docker and the images of the ERP. */
const SYSTEM = { disk: 7 * GB, memory: 700 * MB };
/** An ERP with its database, besides its data. */
const ERP = { disk: 600 * MB, memory: 500 * MB };
/** What is left of a machine with more ERPs than it has room for, and of one that is to run short. */
const LEAST = { disk: GB, memory: 100 * MB };
/** Percent of the disk that is free. */
const PAUSED_BELOW = DISK_STEPS[1];

/** What the machine reports, and what it has measured since a time, in seconds. */
export async function buildReport(
  machine: SandboxMachine,
  since = 0,
): Promise<{ report: MachineReport; samples: readonly Sample[] }> {
  const { machine_id, name, size, quotas } = machine;
  const { disk_gb = 0, memory_gb = 0 } = SANDBOX_CATALOG.sizes.find(({ code }) => code === size) ?? {};
  const erps = await listErps(machine_id);
  const all = [...erps.values()];
  const running = all.filter(({ status }) => status === "running").length;
  const disk = disk_gb * GB - SYSTEM.disk - all.reduce((sum, erp) => sum + ERP.disk + erpBytes(erp), 0);
  const memory = memory_gb * GB - SYSTEM.memory - running * ERP.memory;
  const free = name.startsWith("low-disk") ? LEAST.disk : Math.max(LEAST.disk, disk);
  const uses = [...erps].map(([instance_id, erp]) => ({
    instance_id,
    used_bytes: ERP.disk + erpBytes(erp),
    quota_bytes: quotas[instance_id] ?? null,
    image: describeImage(erp.image),
  }));
  const worst = free < (PAUSED_BELOW / 100) * disk_gb * GB ? findWorst(uses) : undefined;
  const memoryFree = Math.max(LEAST.memory, memory);
  const used = { diskUsed: disk_gb * GB - free, memoryUsed: memory_gb * GB - memoryFree };
  const samples = inventSamples(machine, erps, { since, now: Date.now() / 1000, ...used });
  const report = {
    disk_size_bytes: disk_gb * GB,
    disk_free_bytes: free,
    uses: uses.map((use) => ({ ...use, paused: use.instance_id === worst })),
    memory_free_bytes: memoryFree,
    needs_reboot: name.startsWith("needs-reboot") && !machine.rebooted,
    certificates: [...erps].map(([instance_id, { domain }]) => ({
      instance_id,
      domain,
      ...inventCertificate(instance_id, domain),
    })),
  };
  return { report, samples };
}

/** Finds the instance that is farthest above its quota, as a real machine does (script/disk.sh). */
function findWorst(uses: readonly { instance_id: string; used_bytes: number; quota_bytes: number | null }[]): string | undefined {
  const over = uses.flatMap(({ instance_id, used_bytes, quota_bytes }) =>
    quota_bytes !== null && used_bytes > quota_bytes ? [{ instance_id, by: used_bytes - quota_bytes }] : [],
  );
  return over.toSorted((a, b) => b.by - a.by)[0]?.instance_id;
}

const erpBytes = ({ database, files }: SandboxErp): number =>
  (database?.data.length ?? 0) + Object.values(files).reduce((sum, text) => sum + text.length, 0);

const VALID_DAYS = 90;
const RENEWED_AFTER_DAYS = 60;

/** Issued when the instance was created, and renewed in time since. */
function inventCertificate(instanceId: string, domain: string): { expires_at: string | null; failing: boolean } {
  if (domain.startsWith("fail-certificate.")) return { expires_at: null, failing: true };
  const created = timeOfId(instanceId);
  const renewals = Math.max(0, Math.floor((Date.now() - created) / DAY_MS / RENEWED_AFTER_DAYS));
  return { expires_at: new Date(created + (VALID_DAYS + renewals * RENEWED_AFTER_DAYS) * DAY_MS).toISOString(), failing: false };
}

/** Written anew whenever it is read. */
export async function buildStatusLine(machine: SandboxMachine): Promise<StatusLine> {
  const [{ report }, all] = await Promise.all([buildReport(machine), listErps(machine.machine_id)]);
  const erps = [...all].filter(([, erp]) => erp.status === "running" && isDown(erp));
  return {
    sequence: Math.round((performance.timeOrigin + performance.now()) * 1000),
    faults: erps.map(([instance_id]) => ({ instance_id, check: "page", looks: 1 })),
    paused: (report.uses ?? []).some(({ paused }) => paused),
  };
}

const isDown = ({ domain, restarted }: SandboxErp): boolean =>
  domain.startsWith("fail-health.") || (domain.startsWith("goes-down.") && !restarted);
