// A table of backups with their actions: of all instances, or of one instance on its own page.
import Box from "@cloudscape-design/components/box";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import { type ComponentType, type ReactNode, useState } from "react";
import { useLocation } from "react-router";
import type { Backup } from "../../../shared/api/backups.ts";
import { Link } from "../app/link.tsx";
import { backups } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { useStep } from "../operations/use-step.ts";
import { useOperation } from "../operations/watch.ts";
import { workOf } from "../operations/words.ts";
import { Labels, labelsToText } from "../resource/list/labels.tsx";
import { ListFilters } from "../resource/list/list-filters.tsx";
import { reasonInWords } from "../resource/words/sentence.ts";
import { shownOf, Status } from "../resource/words/status.tsx";
import { ResourceTable } from "../resource/list/table.tsx";
import type { Column } from "../resource/list/column.ts";
import type { SelectedProps } from "../resource/list/use-selection.ts";
import { Time } from "../resource/words/time.tsx";
import { Wrapped } from "../resource/words/wrapped.tsx";
import type { Home } from "../allowed/backups.ts";
import { DrillStatus } from "./drill-status.tsx";
import { BackupFilters, backupQuery, FiltersOfInstance } from "./filters.tsx";
import { BackupMenu } from "./menu.tsx";
import { backupName, kindInWords, backupTime } from "./words.ts";
import { sizeInWords } from "../resource/words/size.ts";
import { lazily } from "../app/lazily.tsx";

const DeleteBackup = lazily(async () => (await import("./delete.tsx")).DeleteBackup, "backupDialogs");
const EditBackup = lazily(async () => (await import("./edit.tsx")).EditBackup, "backupDialogs");
const RunDrill = lazily(async () => (await import("./run-drill.tsx")).RunDrill, "backupDialogs", "servers");
const Restore = lazily(async () => (await import("./restore.tsx")).Restore, "backupDialogs");

interface Props {
  /** The instance that each backup would be restored to. */
  useHome: (backup: Backup) => Home;
  /** The instance on whose page the table is, and whose backups alone it lists. */
  instanceId?: string;
  empty: ReactNode;
  actions?: ReactNode;
  /** The actions on selected backups. */
  bulk?: ComponentType<SelectedProps<Backup>>;
}

/** The prefix of the list on an instance's page. */
const OF_INSTANCE = "backups";

export function BackupsTable({ useHome, instanceId, empty, actions, bulk }: Props) {
  const say = text.backups;
  const [dialog, setDialog] = useState<{ act: "restore" | "drill" | "edit" | "delete"; backup: Backup }>();
  const close = () => setDialog(undefined);
  const menu = (backup: Backup) => (
    <BackupMenu
      backup={backup}
      useHome={useHome}
      onRestore={() => setDialog({ act: "restore", backup })}
      onDrill={() => setDialog({ act: "drill", backup })}
      onEdit={() => setDialog({ act: "edit", backup })}
      onDelete={() => setDialog({ act: "delete", backup })}
    />
  );
  const shared = {
    title: say.title,
    list: backups.list,
    empty,
    actions,
    nameOf: backupName,
    ...(bulk !== undefined && { bulk }),
    Filters: ListFilters,
    searchable: true,
    filters: { status: "backup" },
    narrowing: { query: backupQuery, Fields: BackupFilters, placeholder: say.filters.placeholder },
  } as const;
  return (
    <>
      {instanceId === undefined ? (
        <ResourceTable
          {...shared}
          main
          description={say.about}
          columns={[madeColumn(), instanceColumn(useHome), ...factColumns(""), menuColumn(menu)]}
        />
      ) : (
        <ResourceTable
          {...shared}
          only={{ instance_id: instanceId }}
          narrowing={{ ...shared.narrowing, Fields: FiltersOfInstance }}
          prefix={OF_INSTANCE}
          perPage={10}
          columns={[madeColumn(), ...factColumns(OF_INSTANCE), menuColumn(menu)]}
        />
      )}
      {dialog?.act === "restore" && <Restore backup={dialog.backup} onDismiss={close} />}
      {dialog?.act === "drill" && <RunDrill backup={dialog.backup} onDismiss={close} />}
      {dialog?.act === "edit" && <EditBackup backup={dialog.backup} onDismiss={close} />}
      {dialog?.act === "delete" && <DeleteBackup backup={dialog.backup} onDismiss={close} />}
    </>
  );
}

const madeColumn = (): Column<Backup> => ({
  id: "made",
  header: text.backups.columns.created,
  cell: (backup) => <Made backup={backup} />,
  text: ({ created_at }) => created_at,
});

const menuColumn = (cell: Column<Backup>["cell"]): Column<Backup> => ({
  id: "menu",
  header: text.backups.columns.actions,
  width: 48,
  quiet: true,
  cell,
});

const instanceColumn = (useHome: Props["useHome"]): Column<Backup> => ({
  id: "instance",
  header: text.backups.columns.instance,
  text: ({ instance_name, file_name }) => instance_name ?? file_name ?? "",
  cell: (backup) => <OfInstance backup={backup} useHome={useHome} />,
});

function OfInstance({ backup, useHome }: { backup: Backup; useHome: Props["useHome"] }) {
  const { deleted } = useHome(backup);
  const { instance_id, instance_name, file_name } = backup;
  if (instance_id === null) return <Wrapped>{file_name ?? "–"}</Wrapped>;
  return deleted ? (
    <Wrapped>
      {instance_name}{" "}
      <Box variant="span" color="text-body-secondary">
        {text.backups.deleted}
      </Box>
    </Wrapped>
  ) : (
    <Wrapped>
      <Link to={`/instances/${instance_id}`}>{instance_name}</Link>
    </Wrapped>
  );
}

/** `prefix` is the list's: each label narrows it. */
function factColumns(prefix: string): Column<Backup>[] {
  const say = text.backups.columns;
  return [
    {
      id: "status",
      header: say.status,
      cell: (backup) => <BackupState backup={backup} />,
      text: ({ status }) => shownOf("backup", status).word,
    },
    {
      id: "kind",
      header: say.kind,
      cell: (backup) => <Kind backup={backup} />,
      text: ({ kind, locked }) => (locked ? text.backups.lockedKind(kindInWords(kind)) : kindInWords(kind)),
    },
    {
      id: "drill",
      header: say.drill,
      cell: ({ drill }) => <DrillStatus drill={drill} />,
      text: ({ drill }) => (drill === null ? "" : shownOf("drill", drill.status).word),
      isEmpty: ({ drill }) => drill === null,
    },
    {
      id: "size",
      header: say.size,
      cell: ({ size_bytes }) => sizeInWords(size_bytes),
      text: ({ size_bytes }) => String(size_bytes ?? ""),
      isEmpty: ({ size_bytes }) => size_bytes === null,
    },
    {
      id: "note",
      header: say.note,
      cell: ({ note }) => (note === null ? "–" : <Wrapped>{note}</Wrapped>),
      text: ({ note }) => note ?? "",
      isEmpty: ({ note }) => note === null,
    },
    {
      id: "labels",
      header: say.labels,
      hidden: true,
      cell: ({ labels }) => <Labels of={labels} areFilters prefix={prefix} />,
      text: ({ labels }) => labelsToText(labels),
      isEmpty: ({ labels }) => labelsToText(labels) === "",
    },
    { id: "id", header: say.id, hidden: true, cell: ({ id }) => id, text: ({ id }) => id },
  ];
}

function Made({ backup }: { backup: Backup }) {
  const { pathname, search } = useLocation();
  const details = new URLSearchParams(search);
  details.set("backup", backup.id);
  return <Link to={`${pathname}?${details.toString()}`}>{backupTime(backup)}</Link>;
}

/** The service deletes only those backups automatically that it takes automatically, and none that is locked. */
function Kind({ backup: { kind, locked, expires_at } }: { backup: Backup }) {
  return (
    <>
      {kindInWords(kind)}
      {locked ? (
        <Box variant="small" display="block">
          {text.backups.locked}
        </Box>
      ) : (
        expires_at !== null && (
          <Box variant="small" display="block">
            {text.backups.expires(<Time at={expires_at} />)}
          </Box>
        )
      )}
    </>
  );
}

/** The operation on it, or its status with the reason if it failed. */
function BackupState({ backup }: { backup: Backup }) {
  const { operation_id, status } = backup;
  const reason = reasonInWords(backup);
  const operation = useOperation(operation_id);
  const step = useStep(operation);
  if (operation !== undefined && operation.finished_at === null)
    return <ProgressBar value={operation.progress} ariaLabel={workOf(operation.type).running} additionalInfo={step} />;
  return (
    <>
      <Status of="backup" status={status} />
      {reason !== null && (
        <Wrapped>
          <Box variant="small">{reason}</Box>
        </Wrapped>
      )}
    </>
  );
}
