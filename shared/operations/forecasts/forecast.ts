// What the forecasts of dry runs are made of. Whether a request is allowed is decided by the change itself (`Change.rehearse`); a
// forecast only describes it, and estimates what past operations of the instance allow to estimate.
import type { Effect, Forecast } from "../../api/dry-run.ts";
import { english, type Parameters, type Sentence, type SentenceCode } from "../../domain/sentences.ts";
import type { Caller } from "../../records/schemas/caller.ts";

type ResourceType = Effect["resource"]["type"];

export const sentence = (code: SentenceCode, parameters: Parameters = {}): Sentence => ({ code, parameters });

export const effect = (
  action: Effect["action"],
  resource: { type: ResourceType; id: string | null },
  code: SentenceCode,
  parameters: Parameters = {},
): Effect => ({ action, resource, detail: english({ code, parameters }), code, parameters });

interface Estimate extends Partial<Pick<Forecast, "downtime_seconds" | "disk_bytes" | "next_run_at" | "next_runs">> {
  warnings?: Sentence[];
}

/** What interrupts no ERP and needs no disk space, unless it says otherwise. */
export const forecast = (effects: Effect[], { warnings = [], ...estimate }: Estimate = {}): Forecast => ({
  effects,
  downtime_seconds: 0,
  disk_bytes: 0,
  ...estimate,
  warnings: warnings.map(english),
  warning_reasons: warnings,
});

export const SERVER = "server" as const;
export const INSTANCE = "instance" as const;
export const BACKUP = "backup" as const;
export const NEW_INSTANCE = { type: INSTANCE, id: null };
export const NEW_BACKUP = { type: BACKUP, id: null };

/** Who asks: a forecast shows nothing that they may not read. */
export type Reader = Pick<Caller, "permissions">;
export const mayRead = ({ permissions }: Reader, type: "server" | "instance" | "backup"): boolean =>
  permissions.includes(`${type}s:read`);
