// The one function that reads logs from machines: no endpoint has their key. Whoever invokes it has checked who asks.
import { LOG_READS } from "../shared/domain/limits.ts";
import { contains, type LogLine, reaches } from "../shared/domain/log-levels.ts";
import { firstLines, lastLines, parseLog, readableWork } from "../shared/domain/log-lines.ts";
import { linesBehind, positionAfter, readPosition } from "../shared/domain/log-positions.ts";
import { readLog, readWorkLog } from "../shared/hosts/index.ts";
import { secretsInLogs } from "../shared/operations/log-secrets.ts";
import { log } from "../shared/platform/log.ts";
import { TryAgain } from "../shared/platform/task-errors.ts";
import { LogReading, type ReadLog, WorkReading } from "../shared/runtime/read-log.ts";

export async function handler(payload: unknown): Promise<ReadLog | string> {
  const work = WorkReading.safeParse(payload);
  return work.success ? readWork(work.data) : readInstanceLog(LogReading.parse(payload));
}

async function readWork({ server, ...of }: WorkReading): Promise<string> {
  log.setKeys({ account: of.account_id, operation: of.operation_id });
  const [work, secrets] = await Promise.all([
    readWorkLog(server, of.operation_id).catch((error: unknown) => logged(error, server.id)),
    secretsInLogs(of),
  ]);
  return readableWork(work, secrets);
}

function logged(error: unknown, server: string): never {
  const why = error instanceof Error ? error : undefined;
  if (error instanceof TryAgain) log.info("could not read a log", { server, error: why });
  else log.warn("could not read a log", { server, error: why });
  throw error;
}

async function readInstanceLog(reading: LogReading): Promise<ReadLog> {
  const { account_id, server, instance_id, operation_id, lines: count, level, search, after, since, ...request } = reading;
  const position = after === undefined ? { at: new Date().toISOString(), seen: 0 } : readPosition(after);
  const from = after === undefined || (since !== undefined && since > position.at) ? since : position.at;
  log.setKeys({ account: account_id, instance: instance_id });
  const [text, secrets] = await Promise.all([
    readLog(server, { instance_id, since: from, ...request }).catch((error: unknown) => logged(error, server.id)),
    secretsInLogs({ account_id, operation_id, instance_id }),
  ]);
  if (text === undefined) return { installed: false };
  const all = parseLog(request.source, text, secrets);
  // Searched without the secrets: with them, whoever searches could guess one.
  const isWanted = (line: LogLine): boolean =>
    (level === undefined || reaches(line.level, level)) && contains(line, search ?? "");
  const next = positionAfter(all, position);
  if (after === undefined) {
    const wanted = all.filter(isWanted);
    const lines = lastLines(wanted, count, LOG_READS.bytesMax);
    return { installed: true, lines, truncated: lines.length < wanted.length, next };
  }
  const { lines: behind, isGap } = linesBehind(all, position);
  const wanted = behind.filter(isWanted);
  const lines = firstLines(wanted, count, LOG_READS.bytesMax);
  const last = lines.at(-1);
  // What does not fit comes with the next reading.
  const isWhole = last === undefined || lines.length === wanted.length;
  const read = isWhole ? next : positionAfter(all.slice(0, all.indexOf(last) + 1), position);
  return { installed: true, lines, truncated: isGap && from === position.at, next: read };
}
