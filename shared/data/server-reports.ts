// What changes about servers with each report and each instance, and what they are filtered by: read for these filters alone, so
// that reports and creations write nothing for them.
import * as z from "zod";
import { shorten } from "../domain/ids.ts";
import { ENTRY_ATTRIBUTES } from "./codes.ts";
import { keys } from "./keys.ts";
import { parseEach } from "./parse-each.ts";
import { queryAll } from "./table.ts";

export interface ReportBounds {
  disk_free_bytes_below?: number | undefined;
  memory_free_bytes_below?: number | undefined;
  instance_count_below?: number | undefined;
}

const Reported = z.object({ sk: z.string(), disk_free_bytes: z.number(), memory_free_bytes: z.number() });

/** What is not known is below no bound. */
const isBelow = (value: number | undefined, bound: number | undefined): boolean =>
  bound === undefined || (value !== undefined && value < bound);

/** Whether a server, named by its short ID, is below all bounds of a query. */
export async function readServerReports(
  accountId: string,
  { disk_free_bytes_below: disk, memory_free_bytes_below: memory, instance_count_below: count }: ReportBounds,
): Promise<(short: string) => boolean> {
  const [reports, instances] = await Promise.all([
    disk === undefined && memory === undefined ? [] : queryAll(keys.hostReports(accountId)),
    count === undefined ? [] : queryAll(keys.entries("instance", accountId)),
  ]);
  const reported = new Map(parseEach(Reported, reports).map((report) => [shorten(report.sk), report]));
  const counts = new Map<string, number>();
  for (const { [ENTRY_ATTRIBUTES.server_id]: server } of instances) {
    const short = server instanceof Uint8Array ? Buffer.from(server).toString("base64url") : "";
    counts.set(short, (counts.get(short) ?? 0) + 1);
  }
  return (short) =>
    isBelow(reported.get(short)?.disk_free_bytes, disk) &&
    isBelow(reported.get(short)?.memory_free_bytes, memory) &&
    isBelow(counts.get(short) ?? 0, count);
}
