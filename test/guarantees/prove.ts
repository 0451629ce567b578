// Runs one guarantee's attacks: a small, seeded number of them with the other tests, all of them with `npm run prove`, which
// passes the size and the seed, and resumes where a run stopped.
import { afterAll, expect, test } from "vitest";
import { guarantees, type GuaranteeName } from "./guarantees.ts";
import { ORDER, Order, type Progress, progressIn, save } from "./progress.ts";
import { type Random, randomOf } from "./random.ts";

/** One attack. It throws if the guarantee does not hold. */
export interface Trial {
  index: number;
  random: Random;
  /** One of the attack's points, each as often as another. */
  point: string;
  /** The trial counts as this many, such as the requests of a burst. */
  counts: (trials: number) => void;
  /** Records a point that shows only during the trial. */
  reached: (point: string) => void;
}

export interface Attack {
  /** The distinct places and ways of the attack. Trials take them in a shuffled order, all of them before one again. */
  points?: readonly string[];
  trial: (trial: Trial) => Promise<void>;
  /** What must hold after all trials. */
  finish?: (progress: Progress) => Promise<void> | void;
  close?: () => Promise<void> | void;
}

const order = process.env[ORDER] === undefined ? undefined : Order.parse(JSON.parse(process.env[ORDER]));

/** Whether this is a run of `npm run prove`, for what only pays at full size. */
export const isFullSize = order !== undefined;

/** Every small run makes the same attacks, its second round too; it is `npm run prove` that looks for new ones. */
const SMALL_SEED = 1;

const MESSAGES_KEPT = 20;
/** So many violations in a row say that the run itself is broken. */
const HOPELESS = 50;
const SAVE_EVERY_MS = 5_000;
/** A small run takes seconds, and minutes on a machine that is busy with other work. */
const SMALL_LIMIT_MS = 1_200_000;
/** A row may take the whole of a run. */
const LIMIT_MS = 8 * 3_600_000;

/** Continues a run of the same seed, size and sources. */
function resumeRun(name: GuaranteeName): Progress {
  const fresh: Progress = {
    name,
    seed: order?.seed ?? SMALL_SEED,
    trials: order?.trials ?? guarantees[name].small,
    done: 0,
    counted: 0,
    points: [],
    violations: 0,
    messages: [],
    seconds: 0,
    sources: order?.sources ?? "",
    ended: false,
  };
  const saved = order === undefined ? undefined : progressIn(order.file);
  const isSame =
    saved !== undefined && ["seed", "trials", "sources"].every((key) => Reflect.get(saved, key) === Reflect.get(fresh, key));
  return isSame && order?.trial === undefined ? saved : fresh;
}

/** Called once in a guarantee's own file. `open` starts what the attack needs. */
export function prove(name: GuaranteeName, open: () => Promise<Attack>): void {
  const { title, small } = guarantees[name];
  const close: (() => Promise<void> | void)[] = [];
  afterAll(async () => {
    for (const each of close) await each();
  });
  test(
    `${title}: ${order?.trials ?? small} trials without a violation`,
    { timeout: order === undefined ? SMALL_LIMIT_MS : LIMIT_MS },
    async () => {
      const attack = await open();
      if (attack.close !== undefined) close.push(attack.close);
      const progress = resumeRun(name);
      await run(attack, progress);
      expect(progress.violations, report(progress)).toBe(0);
      if (order?.trial === undefined) await attack.finish?.(progress);
      console.log(report(progress));
    },
  );
}

/** The point of each trial: the order is shuffled by the seed, and each round has another one. */
function pointsOf({ points: all = [] }: Attack, { seed }: Progress): (index: number) => string {
  const points = all.filter((point) => point.includes(order?.points ?? ""));
  if (all.length > 0 && points.length === 0) throw new Error(`No point has "${order?.points}" in its name`);
  let current: { round: number; shuffled: string[] } | undefined;
  return (index) => {
    if (points.length === 0) return "";
    const round = Math.floor(index / points.length);
    if (current?.round !== round) current = { round, shuffled: randomOf(seed + 7919 * round).shuffled(points) };
    return current.shuffled[index % points.length] ?? "";
  };
}

async function run(attack: Attack, progress: Progress): Promise<void> {
  const points = new Set(progress.points);
  const before = progress.seconds;
  const began = performance.now();
  const pointOf = pointsOf(attack, progress);
  let saved = began;
  let inRow = 0;
  const [from, to] = order?.trial === undefined ? [progress.done, progress.trials] : [order.trial, order.trial + 1];
  for (let index = from; index < to && inRow < HOPELESS; index++) {
    const point = pointOf(index);
    let counts = 1;
    try {
      await attack.trial({
        index,
        random: randomOf(Math.imul(progress.seed + 1, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)),
        point,
        counts: (trials) => void (counts = trials),
        reached: (reached) => void points.add(reached),
      });
      inRow = 0;
    } catch (error) {
      inRow += 1;
      progress.violations += 1;
      if (progress.messages.length < MESSAGES_KEPT) progress.messages.push(describe(index, point, error));
    }
    if (point !== "" && counts > 0) points.add(point);
    progress.counted += counts;
    progress.done = index + 1;
    progress.points = [...points];
    progress.seconds = before + (performance.now() - began) / 1000;
    if (order !== undefined && order.trial === undefined && performance.now() - saved > SAVE_EVERY_MS) {
      save(order.file, progress);
      saved = performance.now();
    }
  }
  if (order !== undefined && order.trial === undefined)
    save(order.file, { ...progress, ended: progress.done >= progress.trials || inRow >= HOPELESS });
}

const describe = (index: number, point: string, error: unknown): string =>
  `trial ${index}${point === "" ? "" : ` (${point})`}: ${error instanceof Error ? (error.stack ?? error.message).slice(0, 3_000) : String(error)}`;

const report = ({ name, seed, counted, points, violations, messages, seconds }: Progress): string =>
  [
    `${name}: ${counted} trials, ${points.length > 0 ? `${points.length} distinct points, ` : ""}${violations} violations, seed ${seed}, ${seconds.toFixed(1)} s`,
    ...messages,
    ...(violations > 0 ? [`To repeat one: npm run prove -- --only ${name} --seed ${seed} --trial N`] : []),
  ].join("\n");
