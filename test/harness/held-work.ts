// Holds work until a test releases it, so that the test can look at a page meanwhile, however busy the machine is.
import { onTestFinished } from "vitest";
import * as z from "zod";
import type { Cloud } from "../../infra/local/cloud.ts";

const Task = z.looseObject({ task: z.string() });

/** Holds all work of the file's own cloud, or every task of this name, until the test releases it or ends. */
export function holdWork(cloud: Cloud, at?: string): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  const release = cloud.states.intercept(async (call, next) => {
    if (at === undefined || Task.parse(call.payload).task === at) await promise;
    return next(call);
  });
  const letGo = (): void => {
    release();
    resolve();
  };
  onTestFinished(letGo);
  return letGo;
}
