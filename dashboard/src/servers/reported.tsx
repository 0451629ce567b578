// What a server reported about itself, and a warning if its disk is low.
import Alert from "@cloudscape-design/components/alert";
import { useQuery } from "@tanstack/react-query";
import type { Server } from "../../../shared/api/servers.ts";
import { isLowDisk } from "../../../shared/domain/low-disk.ts";
import { servers } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { sizeInWords } from "../resource/size.ts";
import { Time } from "../resource/time.tsx";

/** For the details of the server. */
export function reportedFacts({ disk_free_bytes, memory_free_bytes, reported_at, specs }: Server) {
  const { disk, memory, of, at, none } = text.reports;
  const part = (free: number | null, all: number) => (free === null ? none : of(sizeInWords(free), `${all} GB`));
  return [
    { label: disk, value: part(disk_free_bytes, specs.disk_gb) },
    { label: memory, value: part(memory_free_bytes, specs.memory_gb) },
    { label: at, value: <Time at={reported_at} exact none={none} /> },
  ];
}

interface Props {
  server: Server;
  /** Says what to do in a form that puts something on the server. */
  inForm?: boolean;
}

export function LowDisk({ server: { name, disk_free_bytes, specs }, inForm = false }: Props) {
  const { title, onServer, onForm } = text.reports.lowDisk;
  if (disk_free_bytes === null || !isLowDisk(disk_free_bytes, specs.disk_gb)) return undefined;
  return (
    <Alert type="warning" header={title}>
      {(inForm ? onForm : onServer)(name, sizeInWords(disk_free_bytes), `${specs.disk_gb} GB`)}
    </Alert>
  );
}

/** The same for the server that is chosen in a form. */
export function LowDiskOf({ serverId }: { serverId: string }) {
  const { data } = useQuery({ ...servers.one(serverId), enabled: serverId !== "" });
  return data !== undefined && <LowDisk server={data.data} inForm />;
}
