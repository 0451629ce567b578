// The one function that reads logs from machines: no endpoint has their key. Whoever invokes it has checked who asks.
import { LOG_READS } from "../shared/domain/limits.ts";
import { contains, reaches } from "../shared/domain/log-levels.ts";
import { firstLines, isCut, lastLines, type Message, parseRows, readableWork, timedLines } from "../shared/domain/log-lines.ts";
import { linesBehind, positionAfter, readPosition } from "../shared/domain/log-positions.ts";
import { readLog, readWorkLog } from "../shared/hosts/index.ts";
import { secretsInLogs } from "../shared/operations/code/log-secrets.ts";
import { log } from "../shared/platform/log.ts";
import { TryAgain } from "../shared/platform/task-errors.ts";
import { LogReading, type ReadLog, WorkReading } from "../shared/runtime/read-log.ts";
import { HOUR_MS } from "../shared/domain/durations.ts";

export async function handler(payload: unknown): Promise<ReadLog | string> {
  const work = WorkReading.safeParse(payload);
  return work.success ? readWork(work.data) : readInstanceLog(LogReading.parse(payload));
}

async function readWork({ server, ...of }: WorkReading): Promise<string> {
  log.setKeys({ account: of.account_id, operation: of.operation_id });
  const [work, secrets] = await Promise.all([
    readWorkLog(server, of.operation_id).catch((error: unknown) => logAndThrow(error, server.id)),
    secretsInLogs(of),
  ]);
  return readableWork(work, secrets);
}

function logAndThrow(error: unknown, server: string): never {
  const cause = error instanceof Error ? error : undefined;
  if (error instanceof TryAgain) log.info("could not read a log", { server, error: cause });
  else log.warn("could not read a log", { server, error: cause });
  throw error;
}

/** A log without any line begins this long ago: lines have the time of their machine, whose clock may be late. */
const CLOCKS_MS = HOUR_MS;

async function readInstanceLog(reading: LogReading): Promise<ReadLog> {
  const { account_id, server, instance_id, operation_id, lines: count, level, search, after, since, ...request } = reading;
  const start = since ?? request.until ?? new Date(Date.now() - CLOCKS_MS).toISOString();
  const position = after === undefined ? { at: start, seenCount: 0 } : readPosition(after);
  const from = after === undefined || (since !== undefined && since > position.at) ? since : position.at;
  log.setKeys({ account: account_id, instance: instance_id });
  const [text, secrets] = await Promise.all([
    readLog(server, { instance_id, since: from, ...request }).catch((error: unknown) => logAndThrow(error, server.id)),
    secretsInLogs({ account_id, operation_id, instance_id }),
  ]);
  if (text === undefined) return { installed: false };
  const rows = timedLines(text);
  const next = positionAfter(rows, position);
  const { lines: behind, isGap } = after === undefined ? { lines: rows, isGap: false } : linesBehind(rows, position);
  // Searched without the secrets: with them, whoever searches could guess one.
  const isWanted = ({ line }: Message): boolean =>
    (level === undefined || reaches(line.level, level)) && contains(line, search ?? "");
  const matching = parseRows(request.source, behind, secrets).filter(isWanted);
  const matchingLines = matching.map(({ line }) => line);
  if (after === undefined) {
    const lines = lastLines(matchingLines, count, LOG_READS.bytesMax);
    return { installed: true, lines, truncated: isCut(text) || lines.length < matchingLines.length, next };
  }
  const lines = firstLines(matchingLines, count, LOG_READS.bytesMax);
  // What does not fit comes with the next reading.
  const last = lines.length === matchingLines.length ? undefined : behind[(matching[lines.length - 1]?.end ?? 0) - 1];
  const read = last === undefined ? next : positionAfter(rows.slice(0, rows.indexOf(last) + 1), position);
  return { installed: true, lines, truncated: (isGap || isCut(text)) && from === position.at, next: read };
}
