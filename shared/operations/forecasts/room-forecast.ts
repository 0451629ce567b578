// What a server has too little of for more work or one more instance: a warning of a dry run, never an error.
import { find, read } from "../../data/table.ts";
import { diskSize, diskStep } from "../../domain/low-disk.ts";
import type { Sentence } from "../../domain/sentences.ts";
import { hostReportRef } from "../../records/host-reports.ts";
import { serverRef } from "../../records/servers.ts";
import { mayRead, type Reader, sentence } from "./forecast.ts";

/**
 * What a server's disk is short of, as it last reported: `bytes` are the least that the work needs. Nothing without a report. It
 * is never an error: the machine itself checks for room before it works.
 */
export async function diskWarnings(reader: Reader, accountId: string, serverId: string, bytes: number): Promise<Sentence[]> {
  if (!mayRead(reader, "server")) return [];
  const { server, report } = await read({ server: serverRef(accountId, serverId), report: hostReportRef(accountId, serverId) });
  if (server === undefined || report === undefined) return [];
  const { disk_free_bytes: free, reported_at } = report;
  const size = diskSize({ ...report, specs: server.specs });
  if (diskStep(free - bytes, size) === null) return [];
  const reported = { server_name: server.name, free_bytes: free, reported_at };
  if (diskStep(free, size) !== null) return [sentence("disk_low", reported)];
  return [sentence("disk_low_afterwards", { needed_bytes: bytes, ...reported })];
}

/**
 * With one more instance, each must have at least the least share of memory that an instance gets (`share` in
 * hosts/script/install.sh), and its buffer (`BUFFER_MB` in hosts/script/buffer.sh).
 */
const INSTANCE_MB_MIN = 768 + 96;
const memoryForInstances = (memory_gb: number): number => (memory_gb * 1024 * 15) / 16 - 384;

export async function memoryWarnings(reader: Reader, accountId: string, serverId: string): Promise<Sentence[]> {
  if (!mayRead(reader, "server")) return [];
  const server = await find(serverRef(accountId, serverId));
  if (server === undefined) return [];
  const { name: server_name, instances, specs } = server;
  const { memory_gb } = specs;
  const instance_count = instances + 1;
  if (instance_count * INSTANCE_MB_MIN <= memoryForInstances(memory_gb)) return [];
  return [sentence("memory_low", { server_name, instance_count, needed_mb: INSTANCE_MB_MIN, memory_gb })];
}
