// Work that goes on only when a test lets it, so that a page can be looked at meanwhile, however busy the machine is.
import { onTestFinished } from "vitest";
import * as z from "zod";
import type { Cloud } from "../../infra/local/cloud.ts";

const Task = z.looseObject({ task: z.string() });

/** Holds all work of a cloud of the file's own, or what comes to a task of this name, until it is let go or the test ends. */
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
