// What a bulk action would do, for its dry run: every resource that it would change or delete, those that are held included,
// which it waits for, and why it would leave others as they are.
import type { Effect, Forecast } from "../../api/dry-run.ts";
import { deployChoices } from "../../api/deploy-choices.ts";
import { SERVER_ACTIONS, type ServerAction, SERVING } from "../../domain/lifecycle.ts";
import { BULK } from "../../domain/limits.ts";
import type { BulkTarget } from "../../records/schemas/bulk.ts";
import type { Caller } from "../../records/schemas/caller.ts";
import type { ServerRecord } from "../../records/schemas/server.ts";
import { requireRenamable, requireUsable } from "../../records/servers.ts";
import { outcomesOfBackups } from "./bulk-backups-forecast.ts";
import { outcomesOfInstances } from "./bulk-instances-forecast.ts";
import {
  type RequestedAction,
  holdOf,
  type Outcome,
  outcomeOrWarning,
  outcomesOfEach,
  outcomeWith,
  relabeling,
  released,
  requireLabels,
} from "./bulk-outcome.ts";
import type { Selected } from "./bulk-selection.ts";
import { mergeWarnings, warnOfLastBackups, warnOfQuotas, warnOfRoom } from "./bulk-warnings.ts";
import { warnOfChoices } from "../forecasts/deploy-forecast.ts";
import { BACKUP, effect, forecast, mayRead, SERVER } from "../forecasts/forecast.ts";
import { planServerAction } from "../forecasts/server-work.ts";

interface Planned extends RequestedAction {
  selected: Selected;
  targets: readonly BulkTarget[];
}

export async function forecastBulk(reader: Caller, planned: Planned): Promise<Forecast> {
  const { action, parameters, selected, targets } = planned;
  const shows = mayRead(reader, selected.type);
  const outcomes = await outcomesOf(reader, planned);
  const onServers = selected.type === "server" && isServerAction(action);
  const onInstances = selected.type === "instance" && INTERRUPTING.includes(action);
  const serves = onServers || (onInstances && selected.records.some(({ state }) => SERVING.includes(state)));
  const interrupts = onServers || onInstances;
  const work = targets.flatMap(({ server_id }, index) => {
    const { room = null } = outcomes[index] ?? {};
    return server_id === null || room === null ? [] : [{ server: server_id, bytes: room }];
  });
  return forecast(
    withinResponse(outcomes).flatMap(({ effects }) => effects),
    {
      downtime_seconds: interrupts && (serves || !shows) ? null : 0,
      disk_bytes: FILLING.includes(action) ? null : 0,
      warnings: mergeWarnings([
        ...(action === "deploy" ? warnOfChoices(deployChoices().parse(parameters)) : []),
        ...outcomes.flatMap(({ warnings }) => warnings),
        ...(selected.type === "backup" && action === "delete" ? await warnOfLastBackups(reader, selected.records) : []),
        ...(action === "backup"
          ? await warnOfQuotas(reader, reader.account_id, outcomes.flatMap(({ effects }) => effects).length)
          : []),
        ...(await warnOfRoom(reader, reader.account_id, work, action === "drill" ? 1 : BULK.perServer)),
      ]),
    },
  );
}

/** A function's response has at most 6 MB, and an effect some 300 bytes. */
const EFFECTS_MAX = 10_000;

/** The deleted backups of each resource as one effect with their number, if there are too many to name each. */
export function withinResponse(outcomes: readonly Outcome[]): readonly Outcome[] {
  const count = outcomes.reduce((sum, { effects }) => sum + effects.length, 0);
  if (count <= EFFECTS_MAX) return outcomes;
  return outcomes.map(({ effects, warnings }) => {
    const isDeleted = ({ action, resource }: Effect): boolean => action === "delete" && resource.type === BACKUP;
    const deleted = effects.filter(isDeleted);
    if (deleted.length < 2) return { effects, warnings };
    const otherEffects = effects.filter((each) => !isDeleted(each));
    const counted = effect("delete", { type: BACKUP, id: null }, "backups_deleted", { backup_count: deleted.length });
    return { effects: [...otherEffects, counted], warnings };
  });
}

const INTERRUPTING = ["stop", "restart", "deploy", "delete"];
const FILLING = ["backup", "drill", "deploy"];

/** Returns the outcomes in the order of the selection. */
async function outcomesOf(reader: Caller, { action, parameters, selected, targets }: Planned): Promise<Outcome[]> {
  switch (selected.type) {
    case "server":
      return outcomesOfEach(selected.records, (server) => outcomeOfServer(reader, { action, parameters }, server));
    case "instance":
      return outcomesOfInstances(reader, { action, parameters }, selected.records);
    case "backup":
      return outcomesOfBackups(reader, { action, parameters }, selected.records, targets);
    default:
      throw new Error(`No such type: ${String(selected satisfies never)}`);
  }
}

const isServerAction = (action: string): action is ServerAction => SERVER_ACTIONS.some((each) => each === action);

async function outcomeOfServer(reader: Caller, { action, parameters }: RequestedAction, server: ServerRecord): Promise<Outcome> {
  const subject = { type: SERVER, name: server.name };
  if (isServerAction(action))
    return outcomeOrWarning(
      reader,
      { ...subject, hold: holdOf(server) },
      () => requireUsable(released(server)),
      async () => outcomeWith(...(await planServerAction(reader, server, action)).effects),
    );
  return outcomeOrWarning(
    reader,
    subject,
    () => {
      requireRenamable(server);
      requireLabels(server.labels, parameters);
    },
    () => outcomeWith(relabeling({ type: SERVER, id: server.id }, server.labels, parameters)),
  );
}
