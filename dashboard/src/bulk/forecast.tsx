// What a bulk action would do, from its dry run: what it does with many resources is said once.
import type { ComponentProps } from "react";
import type { DryRun, Effect } from "../../../shared/api/dry-run.ts";
import type { SentenceCode } from "../../../shared/domain/sentences.ts";
import { Forecast } from "../resource/dialog/forecast.tsx";
import { type BulkRequest, rehearseBulk } from "./use-bulk.ts";

/** Sentences that differ from resource to resource, and those that say the same without that. */
const IN_GENERAL: Readonly<Record<string, SentenceCode>> = {
  backup_not_kept: "some_backup_not_kept",
  drills_daily_download: "drills_daily",
  drills_scheduled_download: "drills_scheduled",
};

const inGeneral = (effect: Effect): Effect => ({ ...effect, code: IN_GENERAL[effect.code] ?? effect.code });

/** Rehearses for forms, which send the request once the user has stopped typing. */
export async function rehearseInGeneral(request: BulkRequest): Promise<{ data: DryRun }> {
  const { data } = await rehearseBulk(request);
  return { data: { ...data, effects: data.effects.map(inGeneral) } };
}

/** What an action's own words say for all of its resources. What differs from one to the other stays. */
const SAID_BY_ACTION: Readonly<Record<string, SentenceCode>> = {
  backup: "backup_taken",
  delete_policy: "policy_deleted",
  drill: "backup_drilled",
  lock: "backup_locked",
  restart: "erp_restarted",
  start: "erp_started",
  stop: "erp_stopped",
  unlock: "backup_unlocked",
  update: "server_packages_updated",
};

const saidBy = (action: string): Partial<Record<SentenceCode, string>> => {
  const code = SAID_BY_ACTION[action];
  return code === undefined ? {} : { [code]: "" };
};

interface Props extends Pick<ComponentProps<typeof Forecast>, "words"> {
  request: BulkRequest;
}

export const BulkForecast = ({ request, words = {} }: Props) => (
  <Forecast
    rehearse={() => rehearseInGeneral(request)}
    of={["bulk", JSON.stringify(request)]}
    returns={false}
    words={{ ...saidBy(request.action), ...words }}
  />
);
