// One action on many records: sends the API's own calls in sequence, within its rate limit, and knows how each of them ended.
import { ClientError } from "../../../shared/api/client-of.ts";
import type { Operation } from "../../../shared/api/operations.ts";
import { waitOf } from "../app/limit.ts";
import { refresh } from "../app/query-client.ts";
import { passes, wordsOf } from "../app/words.ts";
import type { Selectable } from "../messages/en/bulk.tsx";
import { text } from "../messages/text.ts";
import { errorInWords } from "../resource/sentence.ts";
import { watch } from "../operations/watch-store.ts";
import { onOtherUser, session } from "../session/session.ts";
import { createStore } from "../session/store.ts";

export interface Target {
  id: string;
  name: string;
  href: string;
}

export interface Job {
  /** "Stopping instances" */
  running: string;
  /** "Stopped" */
  done: string;
  kind: Selectable;
  targets: readonly Target[];
  send: (id: string, idempotencyKey: string) => Promise<Sent>;
}

export interface Sent {
  /** What was started, if it takes time. */
  operation?: Operation;
  rateLimit: { remaining: number } | undefined;
}

/** A record is waiting, being worked on, done, or not: then this says why. */
type State = "waiting" | "running" | "done" | { reason: string };

export interface Batch {
  job: Job;
  states: ReadonlyMap<string, State>;
  sending: boolean;
  /** The API asked to wait until this moment, in milliseconds of the browser's clock; in the past if it did not. */
  waitingUntil: number;
}

/** Below this number of requests left in the API's minute, the rest is for the page itself. */
const RESERVED = 40;
const PACE_MS = 1_000;
const TRIES_MAX = 4;
const RETRY_MS = 2_000;
/** Until the list shows what was just started. */
const SHOWN_MS = 1_500;

const store = createStore<Batch | undefined>(undefined);
let cancelPause: () => void = () => undefined;

export const useBatch = store.use;
export const dismissBatch = (): void => store.set(undefined);

const count = ({ states }: Batch, state: "waiting" | "running" | "done"): number =>
  [...states.values()].filter((each) => each === state).length;

export const countsOf = (batch: Batch) => ({
  total: batch.states.size,
  running: count(batch, "running"),
  done: count(batch, "done"),
  ended: batch.states.size - count(batch, "running") - count(batch, "waiting"),
});

/** Whether all have ended. */
export const isOver = (batch: Batch): boolean => !batch.sending && countsOf(batch).ended === batch.states.size;

/** By reason: many fail for the same one. */
export function failuresOf({ job, states }: Batch): [reason: string, targets: Target[]][] {
  const byReason = Map.groupBy(job.targets, ({ id }) => {
    const state = states.get(id);
    return typeof state === "object" ? state.reason : undefined;
  });
  return [...byReason].flatMap(([reason, targets]) => (reason === undefined ? [] : [[reason, targets]]));
}

/** The same again for those that failed or were not sent. */
export function retryBatch({ job, states }: Batch): void {
  startBatch({ ...job, targets: job.targets.filter(({ id }) => typeof states.get(id) === "object") });
}

/** Those that were started go on. */
export function stopBatch(): void {
  change(store.get()?.job, (batch) => ({ ...batch, sending: false }));
  cancelPause();
}

export function startBatch(job: Job): void {
  store.set({
    job,
    states: new Map(job.targets.map(({ id }) => [id, "waiting"])),
    sending: true,
    waitingUntil: 0,
  });
  window.addEventListener("beforeunload", keepPage);
  void sendAll(job).finally(() => {
    window.removeEventListener("beforeunload", keepPage);
    void refresh();
  });
}

const keepPage = (event: BeforeUnloadEvent): void => event.preventDefault();

async function sendAll(job: Job): Promise<void> {
  const owner = session()?.user.id;
  const isCurrent = (): boolean => store.get()?.job === job && store.get()?.sending === true && session()?.user.id === owner;
  setTimeout(() => void refresh(), SHOWN_MS);
  for (const { id } of job.targets) if ((await sendOne(job, id, isCurrent)) === "lost") break;
  change(job, (batch) => ({
    ...batch,
    sending: false,
    states: new Map([...batch.states].map(([id, state]) => [id, state === "waiting" ? { reason: text.bulk.notStarted } : state])),
  }));
}

/** The same key every time: a call whose response was lost takes effect once. */
async function sendOne(job: Job, id: string, isCurrent: () => boolean): Promise<"lost" | undefined> {
  const key = crypto.randomUUID();
  for (let tries = 1; isCurrent();) {
    try {
      note(job, id, "running");
      const { operation, rateLimit } = await job.send(id, key);
      if (operation === undefined) note(job, id, "done");
      else watch.claim(operation, (ended) => note(job, id, stateOf(ended)));
      if (rateLimit !== undefined && rateLimit.remaining < RESERVED) await pause(PACE_MS);
      return undefined;
    } catch (error) {
      const wait = waitOf(error);
      const again = wait !== undefined || passes(error) || isUnderWay(error);
      if (!again || (wait === undefined && tries === TRIES_MAX)) {
        note(job, id, { reason: wordsOf(error).text });
        return passes(error) ? "lost" : undefined;
      }
      note(job, id, "waiting");
      if (wait === undefined) tries++;
      const pauseMs = wait === undefined ? RETRY_MS * tries : wait * 1000;
      change(job, (batch) => ({ ...batch, waitingUntil: Date.now() + pauseMs }));
      await pause(pauseMs);
    }
  }
  return undefined;
}

/** The first try arrived, and is still in progress. */
const isUnderWay = (error: unknown): boolean => error instanceof ClientError && error.code === "IDEMPOTENCY_IN_PROGRESS";

const stateOf = ({ status, error }: Operation): State =>
  status === "failed" ? { reason: error === null ? text.bulk.failed : errorInWords(error) } : "done";

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    cancelPause = resolve;
    setTimeout(resolve, ms);
  });

const note = (job: Job, id: string, state: State): void =>
  change(job, (batch) => ({ ...batch, states: new Map(batch.states).set(id, state) }));

/** Unless another one has taken its place. */
function change(job: Job | undefined, next: (batch: Batch) => Batch): void {
  const batch = store.get();
  if (batch !== undefined && batch.job === job) store.set(next(batch));
}

// One user's work is not shown to the next.
onOtherUser(dismissBatch);
