// The details of one backup, in a dialog with its own URL: `?backup=bak_…`.
import Box from "@cloudscape-design/components/box";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearchParams } from "react-router";
import type { Backup } from "../../../shared/api/backups.ts";
import { BACKUP_NEEDS } from "../allowed/needs.ts";
import { whyNotRead } from "../allowed/backups.ts";
import { Failure } from "../app/failure.tsx";
import { lazily } from "../app/lazily.tsx";
import { backups } from "../app/queries.ts";
import { isMissing } from "../app/words.ts";
import { text } from "../messages/text.ts";
import { Progress } from "../operations/progress.tsx";
import { OperationsTable } from "../operations/table.tsx";
import { Action } from "../resource/page/action.tsx";
import { Copyable } from "../resource/words/copyable.tsx";
import { Labels } from "../resource/list/labels.tsx";
import { formatCount } from "../resource/words/number.ts";
import { OnDemand } from "../resource/page/on-demand.tsx";
import { Reason } from "../resource/words/reason.tsx";
import { Status } from "../resource/words/status.tsx";
import { Time } from "../resource/words/time.tsx";
import { DrillResult } from "./drill.tsx";
import { copyPage, kindInWords, backupTime, versionOf } from "./words.ts";
import { sizeInWords } from "../resource/words/size.ts";
import { hasListState } from "../resource/list/use-list-state.ts";

const ImportAgain = lazily(async () => (await import("../uploads/import-again.tsx")).ImportAgain, "backupDialogs", "servers");

interface Props {
  id: string;
  /** Prefix of the history's parameters in the URL. */
  prefix: string;
  onDismiss: () => void;
}

export function BackupDetails({ id, prefix, onDismiss }: Props) {
  const say = text.backupDialogs.details;
  const [search] = useSearchParams();
  const { data, error, refetch } = useQuery(backups.one(id));
  const header = data === undefined ? say.unknown : say.title(data.data, backupTime(data.data));
  return (
    <Modal visible size="large" header={header} onDismiss={onDismiss}>
      {data !== undefined && !isMissing(error) ? (
        <SpaceBetween size="l">
          <Progress id={data.data.operation_id} />
          <Reason of={data.data} action={<ImportAgain backup={data.data} />} />
          <CreateFrom backup={data.data} />
          <Facts backup={data.data} />
          <DrillResult backup={data.data} />
          <OnDemand title={text.operations.title} opened={hasListState(search, prefix)}>
            <OperationsTable resourceId={id} prefix={prefix} />
          </OnDemand>
        </SpaceBetween>
      ) : error === null ? (
        <Spinner size="large" />
      ) : (
        <Failure error={error} retry={() => void refetch()} />
      )}
    </Modal>
  );
}

/** What an uploaded backup is there for. */
function CreateFrom({ backup }: { backup: Backup }) {
  const { create, toNew } = text.backupDialogs.details;
  const navigate = useNavigate();
  const isUploaded = backup.instance_id === null;
  return (
    <Action
      needs={BACKUP_NEEDS.clone}
      variant={isUploaded ? "primary" : "normal"}
      disabledReason={whyNotRead(backup)}
      onClick={() => void navigate(copyPage(backup))}
    >
      {isUploaded ? create : toNew}
    </Action>
  );
}

/** Zero is the normal case and needs no explanation. */
function FileCount({ count, hint }: { count: number; hint: string }) {
  if (count === 0) return text.backupDialogs.details.noFiles;
  return (
    <>
      {formatCount(count)}
      <Box variant="small" display="block">
        {hint}
      </Box>
    </>
  );
}

function Facts({ backup }: { backup: Backup }) {
  const say = text.backupDialogs.details;
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
    left_out,
    missing_modules,
    database_name,
    file_name,
  } = backup;
  return (
    <KeyValuePairs
      columns={3}
      minColumnWidth={200}
      items={[
        { label: say.status, value: <Status of="backup" status={status} /> },
        { label: say.kind, value: kindInWords(kind) },
        { label: say.note, value: note ?? "–" },
        ...(file_name === null ? [] : [{ label: say.fileName, value: file_name }]),
        { label: say.locked, value: locked ? say.isLocked : say.notLocked },
        { label: say.started, value: <Time at={backup.created_at} exact /> },
        { label: say.completed, value: <Time at={backup.completed_at} exact none={say.notCompleted} /> },
        { label: say.expires, value: <Time at={locked ? null : backup.expires_at} exact none={say.never} /> },
        { label: say.version, value: versionOf(backup) },
        { label: say.database, value: database_name ?? "–" },
        { label: say.size, value: size_bytes === null ? "–" : say.bytes(sizeInWords(size_bytes), formatCount(size_bytes)) },
        {
          label: say.missing,
          value: <FileCount count={missing_files} hint={say.missingAbout} />,
        },
        {
          label: say.skipped,
          value: <FileCount count={skipped_files} hint={say.skippedAbout} />,
        },
        ...(left_out.length === 0
          ? []
          : [
              {
                label: say.leftOut,
                value: left_out.map(({ kind, count }) => text.operations.leftOutKind(kind, count)).join(", "),
              },
            ]),
        ...(missing_modules === null || missing_modules.length === 0
          ? []
          : [{ label: say.missingModules, value: missing_modules.join(", ") }]),
        { label: say.sha256, value: sha256 === null ? "–" : <Copyable value={sha256} valueName={say.checksum} code /> },
        { label: say.labels, value: <Labels of={backup.labels} /> },
        { label: say.id, value: <Copyable value={id} valueName={say.id} code /> },
      ]}
    />
  );
}
