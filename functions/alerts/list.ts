// GET /alerts
import * as alerts from "../../shared/api/alerts.ts";
import { listAlerts, toAlert } from "../../shared/records/alerts.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(alerts.list)(async ({ query, caller }) => {
  const { items, meta } = await listAlerts(caller, query);
  return { items: items.map(toAlert), meta };
});
