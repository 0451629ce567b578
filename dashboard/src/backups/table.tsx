// A table of backups with their actions: of all instances, or of one instance on its own page.
import Box from "@cloudscape-design/components/box";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import { type ReactNode, useState } from "react";
import { useLocation, useSearchParams } from "react-router";
import type { Backup } from "../../../shared/api/backups.ts";
import { Link } from "../app/link.tsx";
import { backups } from "../app/queries.ts";
import { useStep } from "../operations/use-step.ts";
import { useOperation } from "../operations/watch.ts";
import { workOf } from "../operations/words.ts";
import { Status } from "../resource/status.tsx";
import { type Column, ResourceTable } from "../resource/table.tsx";
import { Time } from "../resource/time.tsx";
import { Wrapped } from "../resource/wrapped.tsx";
import type { Home } from "../allowed/backups.ts";
import { DeleteBackup } from "./delete.tsx";
import { BackupDetails } from "./details.tsx";
import { EditBackup } from "./edit.tsx";
import { BackupMenu } from "./menu.tsx";
import { Restore } from "./restore.tsx";
import { kindInWords, momentOf } from "./words.ts";
import { sizeInWords } from "../resource/size.ts";

interface Props {
  /** The instance that each backup would be restored to. */
  homeOf: (backup: Backup) => Home;
  /** Only this instance's backups, on its page. */
  instanceId?: string;
  empty: ReactNode;
  actions?: ReactNode;
}

export function BackupsTable({ homeOf, instanceId, empty, actions }: Props) {
  const [dialog, setDialog] = useState<{ what: "restore" | "edit" | "delete"; backup: Backup }>();
  const close = () => setDialog(undefined);
  const menu = (backup: Backup) => (
    <BackupMenu
      backup={backup}
      home={homeOf(backup)}
      onRestore={() => setDialog({ what: "restore", backup })}
      onEdit={() => setDialog({ what: "edit", backup })}
      onDelete={() => setDialog({ what: "delete", backup })}
    />
  );
  const shared = { title: "Backups", list: backups.list, empty, actions };
  return (
    <>
      {instanceId === undefined ? (
        <ResourceTable
          {...shared}
          main
          filters={{ status: "backup" }}
          description="Point-in-time copies of your instances, kept even after an instance is deleted."
          columns={[MADE, instanceColumn(homeOf), ...COLUMNS, { ...MENU, cell: menu }]}
        />
      ) : (
        <ResourceTable
          {...shared}
          only={{ instance_id: instanceId }}
          prefix="backups"
          perPage={10}
          columns={[MADE, ...COLUMNS, { ...MENU, cell: menu }]}
        />
      )}
      {dialog?.what === "restore" && <Restore backup={dialog.backup} onDismiss={close} />}
      {dialog?.what === "edit" && <EditBackup backup={dialog.backup} onDismiss={close} />}
      {dialog?.what === "delete" && <DeleteBackup backup={dialog.backup} onDismiss={close} />}
      <ShownDetails />
    </>
  );
}

const MADE: Column<Backup> = { id: "made", header: "Created", cell: (backup) => <Made backup={backup} /> };
const MENU = { id: "menu", header: "Actions", width: 90 };

const instanceColumn = (homeOf: Props["homeOf"]): Column<Backup> => ({
  id: "instance",
  header: "Instance",
  cell: (backup) =>
    homeOf(backup).deleted ? (
      <Wrapped>
        {backup.instance_name}{" "}
        <Box variant="span" color="text-body-secondary">
          (deleted)
        </Box>
      </Wrapped>
    ) : (
      <Wrapped>
        <Link to={`/instances/${backup.instance_id}`}>{backup.instance_name}</Link>
      </Wrapped>
    ),
});

const COLUMNS: Column<Backup>[] = [
  { id: "status", header: "Status", cell: (backup) => <BackupState backup={backup} /> },
  { id: "kind", header: "Kind", cell: (backup) => <Kind backup={backup} /> },
  { id: "size", header: "Size", cell: ({ size_bytes }) => sizeInWords(size_bytes) },
  { id: "note", header: "Note", long: true, cell: ({ note }) => (note === null ? "–" : <Wrapped>{note}</Wrapped>) },
];

function Made({ backup }: { backup: Backup }) {
  const { pathname, search } = useLocation();
  const details = new URLSearchParams(search);
  details.set("backup", backup.id);
  return <Link to={`${pathname}?${details.toString()}`}>{momentOf(backup)}</Link>;
}

/** The service deletes only those backups automatically that it takes automatically, and none that is locked. */
function Kind({ backup: { kind, locked, expires_at } }: { backup: Backup }) {
  return (
    <>
      {kindInWords(kind)}
      {locked ? (
        <Box variant="small" display="block">
          locked
        </Box>
      ) : (
        expires_at !== null && (
          <Box variant="small" display="block">
            expires <Time at={expires_at} />
          </Box>
        )
      )}
    </>
  );
}

/** The operation on it, or its status with the reason if it failed. */
function BackupState({ backup: { operation_id, status, status_reason } }: { backup: Backup }) {
  const operation = useOperation(operation_id);
  const step = useStep(operation);
  if (operation !== undefined && operation.finished_at === null)
    return <ProgressBar value={operation.progress} ariaLabel={workOf(operation.type).running} additionalInfo={step} />;
  return (
    <>
      <Status of="backup" status={status} />
      {status_reason !== null && (
        <Wrapped>
          <Box variant="small">{status_reason}</Box>
        </Wrapped>
      )}
    </>
  );
}

function ShownDetails() {
  const [search, setSearch] = useSearchParams();
  const id = search.get("backup");
  const close = () =>
    setSearch((before) => {
      const after = new URLSearchParams(before);
      after.delete("backup");
      return after;
    });
  return id !== null && <BackupDetails id={id} onDismiss={close} />;
}
