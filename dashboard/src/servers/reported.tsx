// What a server reported about itself, and a warning if its disk is low.
import Alert from "@cloudscape-design/components/alert";
import type { Server } from "../../../shared/api/servers.ts";
import { DISK_STEPS, diskSize, diskStep } from "../../../shared/domain/low-disk.ts";
import { text } from "../messages/text.ts";
import { gigabytes, sizeInWords } from "../resource/words/size.ts";
import { Time } from "../resource/words/time.tsx";

/** Returns the facts for the details of the server. An older service does not say whether it needs a reboot. */
export function reportedFacts({ needs_reboot = null, ...server }: Omit<Server, "needs_reboot"> & Partial<Server>) {
  const { disk, memory, system, needsReboot, needsNoReboot, at, none } = text.reports;
  const { reported_at } = server;
  return [
    { label: disk, value: diskUse(server) },
    { label: memory, value: memoryUse(server) },
    { label: system, value: needs_reboot === null ? none : needs_reboot ? needsReboot : needsNoReboot },
    { label: at, value: <Time at={reported_at} exact none={none} /> },
  ];
}

interface UseProps {
  freeBytes: number | null;
  sizeBytes: number;
  /** The size in words. */
  all: string;
}

/** A line does not break between a number and its unit. */
const SIZES = /([\d.,]+ \p{L}+)/u;

/** How much is free, and a bar of what is used. */
function Use({ freeBytes, sizeBytes, all }: UseProps) {
  if (freeBytes === null) return text.reports.none;
  const usedBytes = Math.max(0, sizeBytes - freeBytes); // providers round sizes down
  const used = text.reports.used(sizeInWords(usedBytes), all);
  return (
    <>
      {text.reports
        .free(sizeInWords(freeBytes), all)
        .split(SIZES)
        .map((part, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- parts of one text, which do not move
          <span key={index} className={index % 2 === 1 ? "unbroken" : undefined}>
            {part}
          </span>
        ))}
      <meter className="use" aria-label={used} title={used} max={sizeBytes} value={usedBytes} />
    </>
  );
}

export const diskUse = (server: Pick<Server, "disk_size_bytes" | "disk_free_bytes" | "specs">) => (
  <Use freeBytes={server.disk_free_bytes} sizeBytes={diskSize(server)} all={diskInWords(server)} />
);

export const memoryUse = ({ memory_free_bytes, specs: { memory_gb } }: Pick<Server, "memory_free_bytes" | "specs">) => (
  <Use freeBytes={memory_free_bytes} sizeBytes={memory_gb * GB} all={gigabytes(memory_gb)} />
);
const GB = 1_000_000_000;

const diskInWords = ({ disk_size_bytes, specs }: Pick<Server, "disk_size_bytes" | "specs">): string =>
  disk_size_bytes === null
    ? gigabytes(specs.disk_gb)
    : disk_size_bytes % GB === 0
      ? gigabytes(disk_size_bytes / GB)
      : sizeInWords(disk_size_bytes);

type Disk = Pick<Server, "name" | "disk_size_bytes" | "disk_free_bytes" | "specs">;

/** The step of free disk space that a server is below; null if it is not, or has not reported. */
export const lowDiskOf = ({ disk_free_bytes, ...server }: Disk): number | null =>
  disk_free_bytes === null ? null : diskStep(disk_free_bytes, diskSize(server));

interface Props {
  server: Disk;
  /** Says what to do in a form that puts something on the server. */
  inForm?: boolean;
}

export function LowDisk({ server, inForm = false }: Props) {
  const { title, almostFull, onServer, onForm } = text.reports.lowDisk;
  const step = lowDiskOf(server);
  if (step === null) return undefined;
  const isAlmostFull = step === DISK_STEPS[1];
  return (
    <Alert type={isAlmostFull ? "error" : "warning"} header={isAlmostFull ? almostFull : title}>
      {(inForm ? onForm : onServer)(server.name, sizeInWords(server.disk_free_bytes), diskInWords(server))}
    </Alert>
  );
}
