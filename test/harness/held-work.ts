// Holds work until a test releases it, so that the test can look at a page meanwhile, however busy the machine is.
import { onTestFinished } from "vitest";
import * as z from "zod";
import { workflows } from "../../functions/workflows/index.ts";
import type { TestCloud } from "./facts.ts";

const STEPS = new Set(Object.values(workflows).flatMap(({ steps }) => steps.map(({ name }) => name)));

const Task = z.looseObject({ task: z.string() });

/** Holds all work of the file's own cloud, or one step of every workflow that has it, until the test releases it or ends. */
export function holdWork(cloud: TestCloud, at?: string): () => void {
  if (at !== undefined && !STEPS.has(at)) throw new Error(`No workflow has a step ${at}: this would hold nothing`);
  const { promise, resolve } = Promise.withResolvers<void>();
  const stopIntercepting = cloud.states.intercept(async (call, next) => {
    if (at === undefined || Task.parse(call.payload).task === at) await promise;
    return next(call);
  });
  const release = (): void => {
    stopIntercepting();
    resolve();
  };
  onTestFinished(release);
  return release;
}

/**
 * From now on all work of a cloud of the file's own is begun and never done: for tests that ask for it and do not look at what
 * becomes of it.
 */
export const holdForGood = (cloud: TestCloud): void => void cloud.states.intercept(() => new Promise(() => undefined));

/**
 * Work that is begun during a test, on seeded things that have no machine, fails at its first step and undoes nothing: otherwise
 * it would try again and again to reach a machine.
 */
export function giveUpEarly(cloud: TestCloud): void {
  const release = giveUpEarlyFrom(cloud);
  onTestFinished(async () => {
    await cloud.states.settled();
    release();
  });
}

/** The same from now on, until the returned function is called. What has a machine may undo it. */
export function giveUpEarlyFrom(cloud: TestCloud, { undoes = false } = {}): () => void {
  const failedExecutions = new Set<string>();
  return cloud.states.intercept(async (call, next) => {
    const { task } = Task.parse(call.payload);
    if (task === "begin" || task === "fail") return next(call);
    if (failedExecutions.has(call.execution)) return undoes ? next(call) : undefined;
    failedExecutions.add(call.execution);
    throw Object.assign(new Error("HOST_JOB_FAILED: As the test asked"), { name: "GiveUp" });
  });
}
