// GET /instances/:id/metrics
import * as instances from "../../shared/api/instances.ts";
import { INSTANCE_SERIES } from "../../shared/domain/metrics.ts";
import { showMetrics } from "../../shared/operations/monitoring/metrics.ts";
import { getInstance } from "../../shared/records/instances.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(instances.metrics)(async ({ params, query, caller }) => {
  const { id, account_id, server_id } = await getInstance(caller.account_id, params.id);
  const server = { account_id, id: server_id };
  return showMetrics(server, { all: INSTANCE_SERIES, query, of: id });
});
