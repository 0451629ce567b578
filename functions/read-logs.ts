// The one function that reads logs from machines: no endpoint has their key. Whoever invokes it has checked who asks.
import { takeSealed } from "../shared/data/sealed.ts";
import { LOG_READS } from "../shared/domain/limits.ts";
import { contains, reaches } from "../shared/domain/log-levels.ts";
import { lastLines, parseErpLog } from "../shared/domain/log-lines.ts";
import { readLog } from "../shared/hosts/index.ts";
import { log } from "../shared/platform/log.ts";
import { TryAgain } from "../shared/platform/task-errors.ts";
import { LogReading, type ReadLog } from "../shared/runtime/read-log.ts";

export async function handler(payload: unknown): Promise<ReadLog> {
  const { account_id, server, instance_id, operation_id, lines: count, level, search, ...request } = LogReading.parse(payload);
  log.setKeys({ account: account_id, instance: instance_id });
  const text = await readLog(server, { instance_id, ...request }).catch((error: unknown) => {
    const why = error instanceof Error ? error : undefined;
    if (error instanceof TryAgain) log.info("could not read a log", { server: server.id, error: why });
    else log.warn("could not read a log", { server: server.id, error: why });
    throw error;
  });
  if (text === undefined) return { installed: false };
  const sealed = operation_id === null ? undefined : await takeSealed(account_id, operation_id);
  const all = parseErpLog(text, sealed === undefined ? [] : [sealed]);
  // Searched without the secrets: with them, whoever searches could guess one.
  const wanted = all.filter((line) => (level === undefined || reaches(line.level, level)) && contains(line, search ?? ""));
  const lines = lastLines(wanted, count, LOG_READS.bytesMax);
  return { installed: true, lines, truncated: lines.length < wanted.length };
}
