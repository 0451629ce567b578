// What a server reported about itself, and a warning if its disk is low.
import Alert from "@cloudscape-design/components/alert";
import type { Server } from "../../../shared/api/servers.ts";
import { DISK_STEPS, diskSize, diskStep } from "../../../shared/domain/low-disk.ts";
import { text } from "../messages/text.ts";
import { gigabytes, sizeInWords } from "../resource/size.ts";
import { Time } from "../resource/time.tsx";

/** For the details of the server. */
export function reportedFacts({ disk_size_bytes, disk_free_bytes, memory_free_bytes, reported_at, specs }: Server) {
  const { disk, memory, of, at, none } = text.reports;
  const part = (free: number | null, all: string) => (free === null ? none : of(sizeInWords(free), all));
  return [
    { label: disk, value: part(disk_free_bytes, diskInWords({ disk_size_bytes, specs })) },
    { label: memory, value: part(memory_free_bytes, gigabytes(specs.memory_gb)) },
    { label: at, value: <Time at={reported_at} exact none={none} /> },
  ];
}

const diskInWords = ({ disk_size_bytes, specs }: Pick<Server, "disk_size_bytes" | "specs">): string =>
  disk_size_bytes === null ? gigabytes(specs.disk_gb) : sizeInWords(disk_size_bytes);

type Disk = Pick<Server, "name" | "disk_size_bytes" | "disk_free_bytes" | "specs">;

/** The step of free disk space that a server is below; null if it is not, or has not reported. */
const lowDiskOf = ({ disk_free_bytes, ...server }: Disk): number | null =>
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
