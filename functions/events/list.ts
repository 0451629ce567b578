// GET /events
import { api } from "../../shared/api/index.ts";
import { listEvents } from "../../shared/data/lists.ts";
import { EventRecord } from "../../shared/data/records.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.events.list)(({ query, caller }) =>
  listEvents({ kind: "event", accountId: caller.account_id, schema: EventRecord }, query),
);
