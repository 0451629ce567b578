// Every workflow, from every state, cut off before, inside and after each of its tasks, in every way that a task can end badly.
import { setTimeout as sleep } from "node:timers/promises";
import { findOperation } from "../../shared/records/operations.ts";
import { processCloud } from "../harness/cloud.ts";
import { InjectedError, type Intercept, startsOf } from "../workflows/harness.ts";
import { prove } from "./prove.ts";
import type { Random } from "./random.ts";
import { expectAtRest, leaseOf, tasksOf, whileUndoing, workflowRows } from "./workflow-attack.ts";

/** Creates an error with a name as Lambda and Step Functions use it. */
const errorNamed = (name: string): Error => Object.assign(new Error("HOST_JOB_FAILED: As the test asked"), { name });
const FATAL = { "a crash": "Runtime.ExitError", "an error": "GiveUp", "a time-out": "Sandbox.Timedout" };
const PASSING = "TryAgain";

type Next = Parameters<Intercept>[1];

/** One bad end of a task. `later` is called once the execution has ended. */
interface Way {
  attack: (next: Next, tools: Tools) => Promise<unknown>;
  /** Each try, or the first one only. */
  always?: true;
}
interface Tools {
  tries: number;
  random: Random;
  stop: () => Promise<void>;
  later: (work: () => Promise<unknown>) => void;
  killInside: () => void;
}

const WAYS: Record<string, Way> = {
  ...Object.fromEntries(
    Object.entries(FATAL).flatMap(([label, name]): [string, Way][] => [
      [`${label} before its work`, { attack: () => Promise.reject(errorNamed(name)) }],
      [
        `${label} after its work`,
        {
          attack: async (next) => {
            await next();
            throw errorNamed(name);
          },
        },
      ],
    ]),
  ),
  "the process is killed inside": {
    attack: (next, { killInside }) => {
      killInside();
      return next();
    },
  },
  "the response is lost": {
    attack: async (next, { tries }) => {
      const result = await next();
      if (tries < 3) throw errorNamed(PASSING);
      return result;
    },
    always: true,
  },
  "two at once": {
    attack: async (next) => {
      const [one, other] = await Promise.allSettled([next(), next()]);
      const fulfilled = [one, other].find(({ status }) => status === "fulfilled");
      if (fulfilled?.status === "fulfilled") return fulfilled.value;
      throw one.status === "rejected" ? one.reason : new Error("unreachable");
    },
    always: true,
  },
  "the execution is stopped": {
    attack: async (next, { stop }) => {
      const result = await next();
      await stop();
      return result;
    },
  },
  "it runs once more after the execution has ended": {
    attack: async (next, { later }) => {
      later(next);
      return next();
    },
  },
  "it times out, and does its work after the execution has ended": {
    attack: async (next, { later }) => {
      later(next);
      throw errorNamed("Sandbox.Timedout");
    },
  },
  "it times out, and does its work during the undo": {
    attack: async (next, { random, later }) => {
      const work = async (): Promise<unknown> => {
        await sleep(random.below(60));
        return next();
      };
      const late = work().catch(() => undefined);
      later(() => late);
      throw errorNamed("Sandbox.Timedout");
    },
  },
};

const places = workflowRows.flatMap((row) =>
  startsOf(row).flatMap((from) =>
    tasksOf(row).flatMap((task) =>
      Object.entries(WAYS).map(([way, { attack, always }]) => ({
        label: `${row.name}${from === undefined ? "" : ` from ${from}`}, ${task.name}: ${way}`,
        row,
        from,
        task,
        attack,
        always: always === true,
      })),
    ),
  ),
);
const byLabel = new Map(places.map((place) => [place.label, place]));

prove("crash-safety", async () => {
  const cloud = await processCloud();
  const lease = leaseOf(cloud);

  /** Ends the thread of the function at its first, second, … call of AWS, which takes effect or not. */
  function killInside(random: Random): () => void {
    const at = 1 + random.below(8);
    const takesEffect = random.chance(0.5);
    let calls = 0;
    const stop = cloud.aws.inject(({ principal }) => {
      if (!/tasks/i.test(principal) || ++calls !== at) return undefined;
      stop();
      void cloud.lambda.kill(principal);
      return takesEffect ? { kind: "lost" } : { kind: "silent" };
    });
    return stop;
  }

  return {
    points: places.map(({ label }) => label),
    close: lease.close,
    trial: async ({ point, random }) => {
      const place = byLabel.get(point);
      if (place === undefined) throw new Error(`There is no point ${point}`);
      const { row, from, task, attack, always } = place;
      const lateWork: (() => Promise<unknown>)[] = [];
      const stops: (() => void)[] = [];
      let attacked = false;
      // Machines do at once what takes them minutes elsewhere, so a poll is told that they have not finished: it is attacked in a
      // later call.
      const early = task.isPoll ? random.below(3) : 0;
      const intercept: Intercept = async (call, next) => {
        if (call.task !== task.name || (attacked && !always)) return next();
        if (call.tries <= early) {
          await next();
          throw errorNamed("NotYet");
        }
        attacked = true;
        return attack(next, {
          tries: call.tries,
          random,
          stop: async () => {
            const execution = cloud.states.executions().find(({ name }) => name === call.execution);
            await cloud.states.handle("StopExecution", { executionArn: execution?.executionArn });
          },
          later: (work) => void lateWork.push(work),
          killInside: () => void stops.push(killInside(random)),
        });
      };
      await lease.use(async (harness) => {
        const { operation } = await harness.run(
          row.workflow,
          await harness.prepare(row.workflow, from),
          task.isUndo ? whileUndoing(row, intercept, () => new InjectedError("GiveUp")) : intercept,
        );
        for (const stop of stops) stop();
        await Promise.allSettled(lateWork.map((work) => work()));
        await expectAtRest(row, harness, operation, from, findOperation);
      });
    },
  };
});
