// Work on a server's own machine: what it waits for, who is away meanwhile, and what is looked at afterwards.
import * as z from "zod";
import type { Effect, Forecast } from "../../api/dry-run.ts";
import { startChange } from "../../data/change.ts";
import { keys } from "../../data/keys.ts";
import { readChildren, newestChildren } from "../../data/child-lists.ts";
import { parseEach } from "../../data/parse-each.ts";
import { find, readAll } from "../../data/table.ts";
import { HEALTH_OF_ERP, LIFECYCLE, OPERATION, type ServerAction, SERVING } from "../../domain/lifecycle.ts";
import { scheduleSettingsUpdate } from "../../records/redirects.ts";
import type { Caller } from "../../records/schemas/caller.ts";
import { InstanceRecord } from "../../records/schemas/instance.ts";
import { OperationRecord } from "../../records/schemas/operation.ts";
import type { ServerRecord } from "../../records/schemas/server.ts";
import { effect, forecast, INSTANCE, mayRead, sentence, SERVER } from "./forecast.ts";

type ServerOnMachine = Pick<ServerRecord, "account_id" | "id" | "instances">;

/** The instances of a server as they are now. Undefined while their list lags behind: it does not show all yet. */
export async function findInstancesOf({ account_id, id, instances }: ServerOnMachine): Promise<InstanceRecord[] | undefined> {
  const listed = await readChildren("instance", account_id, id);
  const items = await readAll(listed.map((item) => keys.record("instance", account_id, String(item["id"]))));
  return items.size === instances ? parseEach(InstanceRecord, [...items.values()]) : undefined;
}

/** Whether nothing else works on the server, which its operation holds: neither on an instance nor with an archive. */
export async function isIdle(server: ServerOnMachine): Promise<boolean> {
  const slotRef = { key: keys.drill(server.account_id, server.id), schema: z.looseObject({}) };
  const [instances, tried] = await Promise.all([findInstancesOf(server), find(slotRef)]);
  return tried === undefined && instances !== undefined && instances.every(({ operation_id }) => operation_id === null);
}

/** The ERPs that have to respond, without those that did not before. */
export const listServing = async (server: ServerOnMachine): Promise<string[] | undefined> =>
  (await findInstancesOf(server))
    ?.filter(({ state, health_status }) => SERVING.includes(state) && health_status !== HEALTH_OF_ERP.failing)
    .map(({ id }) => id);

/** Has the next health check log in, and bring a report. */
export async function requestReport({ account_id, id }: ServerOnMachine): Promise<void> {
  const change = startChange({ id: account_id });
  scheduleSettingsUpdate(change, id);
  await change.commit();
}

/** What can be started is neither running nor about to be. */
const STOPPED: readonly string[] = LIFECYCLE["instance.start"].from;

const SENTENCES = {
  reboot: { server: ["server_rebooted"], erp: "erp_away_for_reboot" },
  update: { server: ["server_packages_updated", "server_proxy_updated"], erp: "erp_away_for_update" },
} as const;

/** Names who is away, and for how long as far as the last time tells. */
export async function forecastServerAction(
  reader: Pick<Caller, "permissions">,
  server: ServerRecord,
  action: ServerAction,
): Promise<Forecast> {
  const shows = mayRead(reader, INSTANCE);
  const { effects, interrupts, waits } = await planServerAction(reader, server, action);
  const downtime_seconds = !shows ? null : interrupts ? await lastDowntime(server, action) : 0;
  return forecast(effects, { downtime_seconds, warnings: shows && waits ? [sentence("server_work_waits")] : [] });
}

interface Plan {
  effects: Effect[];
  /** Whether ERPs are away meanwhile. */
  interrupts: boolean;
  /** Whether something else runs on its instances now. */
  waits: boolean;
}

export async function planServerAction(
  reader: Pick<Caller, "permissions">,
  { account_id, id }: Pick<ServerRecord, "account_id" | "id">,
  action: ServerAction,
): Promise<Plan> {
  const sentences = SENTENCES[action];
  const instances = parseEach(InstanceRecord, await readChildren("instance", account_id, id));
  const serving = instances.filter(({ state }) => SERVING.includes(state));
  const mayName = mayRead(reader, INSTANCE);
  const later = action === "update" ? instances.filter(({ installed, state }) => installed && STOPPED.includes(state)) : [];
  return {
    effects: [
      ...sentences.server.map((code): Effect => effect("update", { type: SERVER, id }, code)),
      ...(mayName ? serving : []).map(({ id: of, name }) =>
        effect("restart", { type: INSTANCE, id: of }, sentences.erp, { name }),
      ),
      ...(mayName ? later : []).map(({ id: of, name }) =>
        effect("update", { type: INSTANCE, id: of }, "erp_updated_at_start", { name }),
      ),
    ],
    interrupts: serving.length > 0,
    waits: instances.some(({ operation_id }) => operation_id !== null),
  };
}

/** How far back the last one is looked for, among all operations of the server. */
const LOOK_BACK = 100;

async function lastDowntime({ account_id, id }: ServerRecord, action: ServerAction): Promise<number | null> {
  const newest = await newestChildren({ kind: "operation", accountId: account_id, schema: OperationRecord }, id, LOOK_BACK);
  const last = newest.find(({ type, state }) => type === `server.${action}` && state === OPERATION.succeeded);
  return last?.result?.downtime_seconds ?? null;
}
