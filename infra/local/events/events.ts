// EventBridge on this machine: the template's rules, on a schedule or on an event, with functions as targets.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { LocalError } from "../errors.ts";
import { ACCOUNT, REGION, type Json, type Rule } from "../template/template.ts";
import { text } from "../template/resolve.ts";

export interface Event {
  source: string;
  "detail-type": string;
  resources?: string[];
  detail: Record<string, Json>;
}

// What Lambda does with an event whose function failed: again after one minute, and again after two more.
const RETRY_AFTER_SECONDS = [60, 120];

// A service that was off for a while has something to catch up on, and a new one has no catalogue yet.
const FIRST_RUN_MILLISECONDS = 1000;

// A longer one fires at once in Node. What should run less often than every 24 days runs that often.
const LONGEST_TIMER_MILLISECONDS = 2 ** 31 - 1;

const SECONDS: Record<string, number> = { minute: 60, hour: 3600, day: 86_400 };

function periodSeconds(rule: Rule, schedule: string): number {
  const [, count, unit = ""] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(schedule) ?? [];
  const seconds = SECONDS[unit];
  if (seconds === undefined)
    throw new LocalError(`${rule.name} runs on ${schedule}: the local runner knows rate(N minutes|hours|days)`);
  return Number(count) * seconds;
}

const isRecord = (value: Json | undefined): value is Record<string, Json> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const listed = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : value === undefined ? [] : [value]);

/** One alternative of a pattern's list against a field: a literal, or a filter such as {"prefix": "x"}. */
function fits(filter: Json, field: Json | undefined): boolean {
  const values = listed(field);
  if (!isRecord(filter)) return values.includes(filter);
  const [[operator, operand] = ["", null]] = Object.entries(filter);
  switch (operator) {
    case "exists":
      return (field !== undefined) === operand;
    case "prefix":
      return values.some((value) => typeof value === "string" && value.startsWith(text(operand)));
    case "suffix":
      return values.some((value) => typeof value === "string" && value.endsWith(text(operand)));
    case "anything-but":
      return field !== undefined && !listed(operand).some((each) => fits(each, field));
    default:
      throw new LocalError(`The local runner does not know the event filter "${operator}": teach infra/local/events.ts`);
  }
}

export function matches(pattern: Record<string, Json>, event: Record<string, Json>): boolean {
  return Object.entries(pattern).every(([key, expected]) => {
    const field = event[key];
    if (Array.isArray(expected)) return expected.some((filter) => fits(filter, field));
    return isRecord(expected) && matches(expected, isRecord(field) ? field : {});
  });
}

/** The value at a plain path, `$.detail.name`; whatever else JSONPath knows is not needed for events. */
const at = (event: Json, path: string): Json | undefined =>
  path
    .split(".")
    .slice(1)
    .reduce<Json | undefined>((value, key) => (isRecord(value) ? value[key] : undefined), event);

function inputOf({ Input, InputPath, InputTransformer }: Rule["targets"][number], event: Json): unknown {
  if (Input !== undefined) return JSON.parse(Input);
  if (InputPath !== undefined) return at(event, InputPath) ?? null;
  if (!InputTransformer) return event;
  const { InputPathsMap, InputTemplate } = InputTransformer;
  // CDK writes <key> both as a whole value, bare or quoted, and inside strings.
  const value = (key: string): Json => at(event, InputPathsMap[key] ?? "") ?? null;
  const filled = InputTemplate.replaceAll(/"<([\w.-]+)>"|<([\w.-]+)>/g, (_, quoted?: string, bare?: string) => {
    const found = value(quoted ?? bare ?? "");
    return JSON.stringify(quoted !== undefined && typeof found !== "string" ? JSON.stringify(found) : found);
  });
  return JSON.parse(filled);
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
  /** Resolves when every target of every rule that matches has taken the event, or was given up. */
  put: (event: Event) => Promise<void>;
  /** Runs the one rule whose logical id contains this, now: for tests, and for who does not want to wait. */
  fire: (ruleLogicalIdPart: string) => Promise<void>;
  stop: () => void;
}

export function startEvents(options: {
  rules: Rule[];
  invoke: (functionName: string, payload: unknown) => Promise<unknown>;
  /** Multiplies the pauses before retries and the schedules' periods; 0 means at once, and no schedules. */
  timeScale: number;
  schedules: boolean;
  log: (line: string) => void;
}): Events {
  const { rules, invoke, timeScale, log } = options;
  const stopping = new AbortController();
  const timers: NodeJS.Timeout[] = [];

  async function deliver(rule: Rule, target: Rule["targets"][number], event: Json): Promise<void> {
    if (!target.Arn.includes(":lambda:")) return log(`${rule.name}: ${target.Arn} is no function, so nothing was called`);
    for (const pauseSeconds of [...RETRY_AFTER_SECONDS, undefined]) {
      try {
        await invoke(target.Arn, inputOf(target, event));
        return;
      } catch (error) {
        log(`${rule.name}: ${String(error)}${pauseSeconds === undefined ? "; given up" : ""}`);
        if (pauseSeconds === undefined) return;
        await sleep(pauseSeconds * 1000 * timeScale, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
        if (stopping.signal.aborted) return;
      }
    }
  }

  async function run(rule: Rule, event: Json): Promise<void> {
    await Promise.all(rule.targets.map((target) => deliver(rule, target, event)));
  }

  const tick = (rule: Rule): Promise<void> =>
    run(rule, envelope({ source: "aws.events", "detail-type": "Scheduled Event", resources: [rule.arn], detail: {} }));

  // A pattern with a filter that is not known here is refused now, not when the first event comes.
  for (const { pattern } of rules) if (pattern) matches(pattern, {});
  for (const rule of rules) {
    if (rule.schedule === undefined) continue;
    const period = Math.min(periodSeconds(rule, rule.schedule) * 1000 * timeScale, LONGEST_TIMER_MILLISECONDS);
    if (!options.schedules || period === 0) continue;
    let running = false;
    const due = (): void => {
      // A run that takes longer than its period is not overtaken by the next.
      if (running) return;
      running = true;
      void tick(rule).finally(() => (running = false));
    };
    timers.push(setTimeout(due, Math.min(period, FIRST_RUN_MILLISECONDS)).unref(), setInterval(due, period).unref());
  }

  return {
    put: async (event) => {
      const whole = envelope(event);
      await Promise.all(rules.filter(({ pattern }) => pattern && matches(pattern, whole)).map((rule) => run(rule, whole)));
    },
    fire: async (part) => {
      const found = rules.filter(({ logicalId }) => logicalId.toLowerCase().includes(part.toLowerCase()));
      const [rule] = found;
      if (!rule || found.length > 1)
        throw new LocalError(
          `${found.length} rules have "${part}" in their id; there are: ${rules.map((each) => each.logicalId).join(", ")}`,
        );
      await tick(rule);
    },
    stop: () => {
      stopping.abort();
      for (const timer of timers) clearInterval(timer);
    },
  };
}
