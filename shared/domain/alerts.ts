// Every kind of alert: what it is about, when it opens and closes, and which setting of the account has its thresholds.

/** Kinds whose setting is a list of steps have an alert for each step. Null: off. */
export interface AlertSettings {
  disk_free_percent: number[] | null;
  memory_free_percent: number[] | null;
  disk_quota_percent: number | null;
  certificate_days: number | null;
  error_rate_percent: number | null;
  down_minutes: number | null;
  cpu_percent: number | null;
  backup_overdue: boolean;
  drill_failed: boolean;
  operation_failed: boolean;
  token_expiry_days: number[] | null;
}

export const DEFAULT_ALERT_SETTINGS: AlertSettings = {
  disk_free_percent: [15, 5],
  memory_free_percent: [10],
  disk_quota_percent: 90,
  certificate_days: 14,
  error_rate_percent: 5,
  down_minutes: 3,
  cpu_percent: 95,
  backup_overdue: true,
  drill_failed: true,
  operation_failed: true,
  token_expiry_days: [14, 3],
};

export type AlertResource = "server" | "instance";

interface Kind {
  about: readonly AlertResource[];
  /** Null: always on. */
  setting: keyof AlertSettings | null;
  /** This is only set for kinds whose value is compared with a threshold. */
  measured?: { unit: "percent" | "days" | "minutes"; opens: "below" | "above" | "from" };
  /** It tells of something that happened once, so that nothing but a success or time closes it. */
  happened?: true;
}

const KINDS = {
  disk_free: { about: ["server"], setting: "disk_free_percent", measured: { unit: "percent", opens: "below" } },
  memory_free: { about: ["server"], setting: "memory_free_percent", measured: { unit: "percent", opens: "below" } },
  disk_quota: { about: ["instance"], setting: "disk_quota_percent", measured: { unit: "percent", opens: "above" } },
  disk_paused: { about: ["instance"], setting: null },
  certificate: { about: ["instance"], setting: "certificate_days", measured: { unit: "days", opens: "below" } },
  down: { about: ["server", "instance"], setting: "down_minutes", measured: { unit: "minutes", opens: "from" } },
  backup_overdue: { about: ["instance"], setting: "backup_overdue" },
  drill_failed: { about: ["instance"], setting: "drill_failed", happened: true },
  operation_failed: { about: ["server", "instance"], setting: "operation_failed", happened: true },
  cpu: { about: ["server"], setting: "cpu_percent", measured: { unit: "percent", opens: "above" } },
  error_rate: { about: ["instance"], setting: "error_rate_percent", measured: { unit: "percent", opens: "above" } },
} as const satisfies Record<string, Kind>;

export type AlertKind = keyof typeof KINDS;
export const ALERT_KINDS: Readonly<Record<AlertKind, Kind>> = KINDS;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `Object.keys` forgets which
export const ALERT_KIND_NAMES = Object.keys(KINDS) as [AlertKind, ...AlertKind[]];
export const isAlertKind = (kind: string): kind is AlertKind => Object.hasOwn(KINDS, kind);

export const ALERT = { open: "open", closed: "closed" } as const;
export const ALERT_STATUSES = [ALERT.open, ALERT.closed] as const;
export type AlertStatus = (typeof ALERT_STATUSES)[number];

/** What tells of a failure closes after so long, even without a success. */
export const FAILURE_DAYS = 7;
/** How long an alert can be muted at a time. */
export const MUTED_DAYS_MAX = 30;

/** The thresholds at which a kind has an alert: null stands for a kind without any. */
export function listThresholds(kind: AlertKind, settings: AlertSettings): readonly (number | null)[] {
  const { setting } = ALERT_KINDS[kind];
  const value = setting === null ? true : settings[setting];
  if (value === null || value === false) return [];
  return value === true ? [null] : typeof value === "number" ? [value] : value;
}

/**
 * Whether a value means an alert. One that is open closes only a fifth beyond its threshold, so that it does not flap: 15 at 18,
 * and 90 at 92, because there are no more than 100 percent.
 */
export function isBeyond(kind: AlertKind, value: number, threshold: number, isOpen: boolean): boolean {
  const { unit, opens } = ALERT_KINDS[kind].measured ?? {};
  if (opens === "from") return isOpen || value >= threshold;
  const room = unit === "percent" ? Math.min(threshold, 100 - threshold) : threshold;
  if (opens === "below") return value < (isOpen ? threshold + room / 5 : threshold);
  return isOpen ? value > threshold * 0.8 : value >= threshold;
}

/** Whether nobody is to be sent mail about an alert at a time. */
export const isMuted = ({ muted_until }: { muted_until: string | null }, at: string): boolean =>
  muted_until !== null && muted_until > at;
