// How work ended, or how far it has come: its reason where it failed, else what of its result matters to a person.
import Box from "@cloudscape-design/components/box";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { BulkResult, Operation, OperationResult } from "../../../shared/api/operations.ts";
import { RequestId } from "../app/failure.tsx";
import { Link } from "../app/link.tsx";
import { text } from "../messages/text.ts";
import { formatTimeOfId } from "../resource/words/moment.ts";
import { errorInWords } from "../resource/words/sentence.ts";
import { Status } from "../resource/words/status.tsx";
import { Time } from "../resource/words/time.tsx";
import { Wrapped } from "../resource/words/wrapped.tsx";
import { useStep } from "./use-step.ts";
import { useOperation } from "./watch.ts";
import { verificationInWords, workOf } from "./words.ts";

interface Props {
  operation: Operation;
  /** Its log is beside it. */
  onOwnPage?: boolean;
  /** Its start and its duration stand beside it, and say when it ended. */
  timed?: boolean;
  /** The page of the deploy says the backup before it and the downtime itself. */
  ofDeployPage?: boolean;
}

/** Returns the outcome in words, for a file. */
export const outcomeInWords = ({ error, result }: Operation): string =>
  [error && errorInWords(error), result?.bulk && summaryOf(result.bulk)].filter(Boolean).join(" ");

export const summaryOf = ({ succeeded, total, failed, cancelled }: BulkResult): string =>
  text.operations.bulk.summary(succeeded, total, failed, cancelled);

/** What `Found` shows of a result. */
const SHOWN = [
  "backup_id",
  "bulk",
  "downtime_seconds",
  "drill",
  "host_skipped",
  "left_out",
  "missing_files",
  "missing_modules",
  "safety_backup_id",
  "skipped_paths",
  "unfinished_modules",
  "verification",
] as const;

const showsResult = (result: OperationResult | null): boolean => SHOWN.some((name) => Boolean(result?.[name]));

export function Outcome({ operation, onOwnPage = false, timed = false, ofDeployPage = false }: Props) {
  const live = useOperation(operation.id) ?? operation;
  const step = useStep(live);
  const { error, finished_at, progress, result, type, request_id } = live;
  if (finished_at === null) return <ProgressBar value={progress} ariaLabel={workOf(type).running} additionalInfo={step} />;
  return (
    <Wrapped>
      {error === null ? (
        (!timed || !showsResult(result)) && (
          <Box variant="span" color="text-body-secondary">
            {text.operations.finished(<Time at={finished_at} />)}
          </Box>
        )
      ) : (
        <>
          {errorInWords(error)}
          <RequestId id={request_id} />
          {!onOwnPage && (
            <div>
              <Link to={`/operations/${live.id}`}>{text.operations.log.open}</Link>
            </div>
          )}
        </>
      )}
      {result !== null && (
        <Found
          type={type}
          result={ofDeployPage ? { ...result, downtime_seconds: undefined, safety_backup_id: undefined } : result}
        />
      )}
    </Wrapped>
  );
}

function Found({ type, result }: { type: string; result: OperationResult }) {
  const {
    backup_id,
    bulk,
    downtime_seconds,
    drill,
    host_skipped,
    left_out,
    missing_files,
    missing_modules,
    safety_backup_id,
    skipped_paths,
    unfinished_modules,
    verification,
  } = result;
  const { preDeployBackup, preRestoreBackup } = text.operations;
  const safetyBackup = type === "instance.deploy" ? preDeployBackup : preRestoreBackup;
  return (
    <>
      {bulk !== undefined && (
        <div>
          <StatusIndicator type={bulk.succeeded === bulk.total ? "success" : "warning"}>{summaryOf(bulk)}</StatusIndicator>
        </div>
      )}
      {backup_id !== undefined && (
        <div>
          <Link to={`/backups?backup=${backup_id}`}>{text.operations.backup(formatTimeOfId(backup_id))}</Link>
        </div>
      )}
      {drill !== undefined && <div>{text.operations.drill(<Status of="drill" status={drill.status} />)}</div>}
      {verification !== undefined && <div>{verificationInWords(verification)}</div>}
      {safety_backup_id !== undefined && (
        <div>
          <Link to={`/backups?backup=${safety_backup_id}`}>{safetyBackup(formatTimeOfId(safety_backup_id))}</Link>
        </div>
      )}
      {downtime_seconds !== undefined && <div>{text.operations.downtime(downtime_seconds)}</div>}
      {skipped_paths !== undefined && <div>{text.operations.skipped(skipped_paths.join(", "))}</div>}
      {unfinished_modules !== undefined && <div>{text.operations.unfinished(unfinished_modules.join(", "))}</div>}
      {missing_modules !== undefined && <div>{text.operations.missingModules(missing_modules.join(", "))}</div>}
      {missing_files !== undefined && <div>{text.operations.missingFiles(missing_files)}</div>}
      {left_out?.map(({ kind, count, names }) => (
        <div key={kind}>{text.operations.leftOut(kind, count, names.join("; "))}</div>
      ))}
      {host_skipped === true && <div>{text.operations.hostSkipped}</div>}
    </>
  );
}
