// EventBridge on this machine: the template's rules, on a schedule or for an event, with functions as targets.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { LocalError } from "../errors.ts";
import { ACCOUNT, REGION, type Json } from "../template/resolve.ts";
import type { Rule } from "../template/rules.ts";
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from "../../../shared/domain/durations.ts";

export interface Event {
  source: string;
  "detail-type": string;
  resources?: string[];
  detail: Record<string, Json>;
}

// What Lambda does with an event whose function failed: a retry after one minute, and another after two more.
const RETRY_AFTER_SECONDS = [60, 120];

// A service that was down has work to catch up on, and a new one has no catalog yet.
const FIRST_RUN_MILLISECONDS = 1000;

// Node fires a longer one immediately. What is scheduled less often than every 24 days runs every 24 days.
const LONGEST_TIMER_MILLISECONDS = 2 ** 31 - 1;

const SECONDS: Record<string, number> = { minute: MINUTE_SECONDS, hour: HOUR_SECONDS, day: DAY_SECONDS };

function periodSeconds(rule: Rule, schedule: string): number {
  const [, count, unit = ""] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(schedule) ?? [];
  const seconds = SECONDS[unit];
  if (seconds === undefined)
    throw new LocalError(`${rule.name} runs on ${schedule}: the local runner knows rate(N minutes|hours|days)`);
  return Number(count) * seconds;
}

const isRecord = (value: Json | undefined): value is Record<string, Json> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const Prefix = z.strictObject({ prefix: z.string() });

/** One alternative of a pattern's list against a field. */
function fits(expected: Json, field: Json | undefined): boolean {
  const { data: begins } = Prefix.safeParse(expected);
  if (begins !== undefined) return typeof field === "string" && field.startsWith(begins.prefix);
  if (isRecord(expected))
    throw new LocalError(
      `The local runner does not know the event filter ${JSON.stringify(expected)}: add it to infra/local/events/events.ts`,
    );
  return field === expected;
}

export function matches(pattern: Record<string, Json>, event: Record<string, Json>): boolean {
  // Checks all of them, so that an unknown filter is reported whatever the other fields are.
  const fitting = Object.entries(pattern).filter(([key, expected]) => {
    const field = event[key];
    if (Array.isArray(expected)) return expected.some((each) => fits(each, field));
    return isRecord(expected) && matches(expected, isRecord(field) ? field : {});
  });
  return fitting.length === Object.keys(pattern).length;
}

const envelope = ({ resources = [], ...event }: Event): Record<string, Json> => ({
  version: "0",
  id: randomUUID(),
  account: ACCOUNT,
  region: REGION,
  time: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
  resources,
  ...event,
});

export interface Events {
  /** Resolves when every target of every matching rule has taken the event, or has failed for good. */
  put: (event: Event) => Promise<void>;
  /** Immediately runs the one rule whose logical ID contains this text, for tests and for callers who do not want to wait. */
  fire: (ruleLogicalIdPart: string) => Promise<void>;
  stop: () => void;
}

interface Options {
  rules: Rule[];
  invoke: (functionName: string, payload: unknown) => Promise<unknown>;
  /** Multiplies the pauses before retries and the schedules' periods; 0 means immediately, and no schedules. */
  timeScale: number;
  schedules: boolean;
  log: (line: string) => void;
}

export function startEvents(options: Options): Events {
  const { rules } = options;
  const stopping = new AbortController();
  const run = async (rule: Rule, event: Json): Promise<void> => {
    await Promise.all(rule.targets.map((target) => deliver({ rule, target }, event, options, stopping.signal)));
  };
  const tick = (rule: Rule): Promise<void> =>
    run(rule, envelope({ source: "aws.events", "detail-type": "Scheduled Event", resources: [rule.arn], detail: {} }));

  // Reports a pattern with an unknown filter now, not when the first event comes.
  for (const { pattern } of rules) if (pattern) matches(pattern, {});
  const timers = rules.flatMap((rule) => scheduled(rule, () => tick(rule), options));
  return {
    put: async (event) => {
      const fullEvent = envelope(event);
      await Promise.all(
        rules.filter(({ pattern }) => pattern && matches(pattern, fullEvent)).map((rule) => run(rule, fullEvent)),
      );
    },
    fire: async (part) => {
      const matchingRules = rules.filter(({ logicalId }) => logicalId.toLowerCase().includes(part.toLowerCase()));
      const [rule] = matchingRules;
      if (!rule || matchingRules.length > 1)
        throw new LocalError(
          `${matchingRules.length} rules have "${part}" in their id; there are: ${rules.map((each) => each.logicalId).join(", ")}`,
        );
      await tick(rule);
    },
    stop: () => {
      stopping.abort();
      for (const timer of timers) clearInterval(timer);
    },
  };
}

/** Invokes a target, and retries if it fails, as Lambda does with an event. */
async function deliver(
  { rule, target: { Arn, Input } }: { rule: Rule; target: Rule["targets"][number] },
  event: Json,
  { invoke, log, timeScale }: Options,
  signal: AbortSignal,
): Promise<void> {
  for (const pauseSeconds of [...RETRY_AFTER_SECONDS, undefined]) {
    try {
      await invoke(Arn, Input === undefined ? event : JSON.parse(Input));
      return;
    } catch (error) {
      log(`${rule.name}: ${String(error)}${pauseSeconds === undefined ? "; given up" : ""}`);
      if (pauseSeconds === undefined) return;
      await sleep(pauseSeconds * 1000 * timeScale, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
    }
  }
}

/** The timers of a rule with a schedule; none for other rules. */
function scheduled(rule: Rule, tick: () => Promise<void>, { timeScale, schedules }: Options): NodeJS.Timeout[] {
  if (rule.schedule === undefined) return [];
  const period = Math.min(periodSeconds(rule, rule.schedule) * 1000 * timeScale, LONGEST_TIMER_MILLISECONDS);
  if (!schedules || period === 0) return [];
  let running = false;
  const due = (): void => {
    // A run that takes longer than its period is not overtaken by the next.
    if (running) return;
    running = true;
    void tick().finally(() => (running = false));
  };
  return [setTimeout(due, Math.min(period, FIRST_RUN_MILLISECONDS)).unref(), setInterval(due, period).unref()];
}
