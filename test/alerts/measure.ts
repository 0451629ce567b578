// What checks find of a server's disk.
import { evaluateAlert, readAlerts } from "../../shared/operations/monitoring/alerts.ts";
import type { ServerRecord } from "../../shared/records/schemas/server.ts";

/** What a report of a server's disk brings about, of one check or of two at once. */
export async function measure({ account_id, id, name }: ServerRecord, percent: number, checks = 1): Promise<void> {
  const alerts = await Promise.all(Array.from({ length: checks }, () => readAlerts(account_id)));
  const finding = { kind: "disk_free", type: "server", id, measured: percent, name: () => name } as const;
  await Promise.all(alerts.map((each) => evaluateAlert(each, finding)));
}
