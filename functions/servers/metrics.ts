// GET /servers/:id/metrics
import * as servers from "../../shared/api/servers.ts";
import { SERVER_SERIES } from "../../shared/domain/metrics.ts";
import { showMetrics } from "../../shared/operations/monitoring/metrics.ts";
import { getServer } from "../../shared/records/servers.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(servers.metrics)(async ({ params, query, caller }) => {
  const server = await getServer(caller.account_id, params.id);
  return showMetrics(server, { all: SERVER_SERIES, query, of: null });
});
