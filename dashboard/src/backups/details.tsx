// The details of one backup, in a dialog with its own URL: `?backup=bak_…`.
import Box from "@cloudscape-design/components/box";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import type { Backup } from "../../../shared/api/backups.ts";
import { Failure } from "../app/failure.tsx";
import { backups } from "../app/queries.ts";
import { OperationsTable } from "../operations/table.tsx";
import { Copyable } from "../resource/copyable.tsx";
import { Reason } from "../resource/reason.tsx";
import { Status } from "../resource/status.tsx";
import { Time } from "../resource/time.tsx";
import { kindInWords, momentOf } from "./words.ts";
import { sizeInWords } from "../resource/size.ts";

export function BackupDetails({ id, onDismiss }: { id: string; onDismiss: () => void }) {
  const { data, error, refetch } = useQuery(backups.one(id));
  const header = data === undefined ? "Backup" : `Backup of ${data.data.instance_name}, ${momentOf(data.data)}`;
  return (
    <Modal visible size="large" header={header} onDismiss={onDismiss}>
      {data !== undefined ? (
        <SpaceBetween size="l">
          <Reason of={data.data} />
          <Facts backup={data.data} />
          <OperationsTable resourceId={id} />
        </SpaceBetween>
      ) : error === null ? (
        <Spinner size="large" />
      ) : (
        <Failure error={error} retry={() => void refetch()} />
      )}
    </Modal>
  );
}

/** Zero is the normal case and needs no explanation. */
function FileCount({ count, hint }: { count: number; hint: string }) {
  if (count === 0) return "None";
  return (
    <>
      {count}
      <Box variant="small" display="block">
        {hint}
      </Box>
    </>
  );
}

function Facts({ backup }: { backup: Backup }) {
  const {
    id,
    status,
    kind,
    note,
    locked,
    size_bytes,
    sha256,
    missing_files,
    skipped_files,
    erp_version,
    edition,
    database_name,
  } = backup;
  return (
    <KeyValuePairs
      columns={3}
      minColumnWidth={200}
      items={[
        { label: "Status", value: <Status of="backup" status={status} /> },
        { label: "Kind", value: kindInWords(kind) },
        { label: "Note", value: note ?? "–" },
        { label: "Locked", value: locked ? "Yes: it can't be deleted and doesn't expire" : "No" },
        { label: "Started", value: <Time at={backup.created_at} exact /> },
        { label: "Completed", value: <Time at={backup.completed_at} exact none="Not completed" /> },
        { label: "Expires", value: <Time at={locked ? null : backup.expires_at} exact none="Never" /> },
        { label: "Version", value: `${erp_version} ${edition}` },
        { label: "Database", value: database_name },
        { label: "Size", value: size_bytes === null ? "–" : `${sizeInWords(size_bytes)} (${size_bytes} bytes)` },
        {
          label: "Missing files",
          value: <FileCount count={missing_files} hint="The database lists them, but the instance did not have them." />,
        },
        {
          label: "Skipped files",
          value: <FileCount count={skipped_files} hint="Links, devices, sockets, and names that are not UTF-8." />,
        },
        { label: "SHA-256 checksum", value: sha256 === null ? "–" : <Copyable value={sha256} what="checksum" code /> },
        { label: "ID", value: <Copyable value={id} what="ID" code /> },
      ]}
    />
  );
}
