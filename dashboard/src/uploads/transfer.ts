// Sends the parts of a file that the storage lacks, a few at a time. It can be paused, goes on after failures, and sends no part
// again that has arrived.
import { ClientError } from "../../../shared/api/client-of.ts";
import type { Upload } from "../../../shared/api/uploads.ts";
import { concurrently } from "../../../shared/platform/concurrently.ts";
import { client } from "../app/client.ts";
import { retryAfterSeconds } from "../app/limit.ts";
import { isTransient } from "../app/words.ts";
import { createStore } from "../session/store.ts";
import { type Hashes, startHashing } from "./hashes.ts";
import { createPace } from "./pace.ts";
import { sendPart, STORAGE_ERROR } from "./send-part.ts";

const PARTS_AT_ONCE = 3;
/** Parts whose addresses are fetched together: an address is good for an hour, in which a slow connection sends few. */
const BATCH = 6;
/**
 * At least this time lies between two requests for addresses: a part that is hashed is no reason for one. Six parts in it are 1
 * Gbit/s.
 */
const ASK_EVERY_MS = 3_000;
/** The number of retries, after 1, 2, 4, 8 and 16 s; then the user decides. */
const RETRIES_MAX = 5;
const SHOWN_EVERY_MS = 200;

/** An upload that has begun. */
export interface Begun {
  file: File;
  upload: Upload;
  /** It examines the archive. */
  serverId: string;
}

export interface Transferring {
  phase: "sending" | "paused" | "stored";
  /** Why it is paused, if not by the user. */
  error: unknown;
  /** Bytes that the storage has, with those on their way. */
  sent: number;
  /** Bytes of the file that are hashed. */
  read: number;
  perSecond: number | undefined;
  /** Hash of the whole file, once it is stored. */
  sha256: string | undefined;
}

export interface Transfer {
  use: () => Transferring;
  resume: () => void;
  pause: () => void;
  /** Stops for good: the file has to be chosen again. */
  stop: () => void;
}

export function createTransfer(file: File, { id, part_size }: Upload): Transfer {
  const transferring = createStore<Transferring>({
    phase: "paused",
    error: undefined,
    sent: 0,
    read: 0,
    perSecond: undefined,
    sha256: undefined,
  });
  const pace = createPace();
  const show = (changes?: Partial<Transferring>): void => {
    const [sent, read] = [parts.sent(), Math.min(file.size, hashes.parts.size * part_size)];
    transferring.set({ ...transferring.get(), sent, read, perSecond: pace.note(parts.transferred()), ...changes });
  };
  let soon: ReturnType<typeof setTimeout> | undefined;
  /** Progress is reported many times a second. */
  const showSoon = (): void => {
    soon ??= setTimeout(() => {
      soon = undefined;
      show();
    }, SHOWN_EVERY_MS);
  };
  const hashes = startHashing({ file, part_size }, showSoon);
  const parts = createParts(file, { id, part_size }, hashes.parts, showSoon);
  let attempt = new AbortController();

  return {
    use: transferring.use,
    resume: () => {
      attempt.abort();
      attempt = new AbortController();
      const { signal } = attempt;
      pace.restart();
      show({ phase: "sending", error: undefined });
      sendPatiently(parts, hashes, signal).then(
        (sha256) => show({ phase: "stored", sha256 }),
        (error: unknown) => signal.aborted || show({ phase: "paused", error, perSecond: undefined }),
      );
    },
    pause: () => {
      attempt.abort();
      show({ phase: "paused", perSecond: undefined });
    },
    stop: () => {
      attempt.abort();
      hashes.stop();
    },
  };
}

/** Sends until all of the file is hashed and stored; returns its SHA-256. */
async function sendAll(parts: Parts, hashes: Hashes, signal: AbortSignal): Promise<string> {
  await parts.ask(signal);
  for (let nextAt = 0; ;) {
    const [hashed, fileHash] = [hashes.parts.size, hashes.fileHash()];
    if (parts.missing().length > 0) {
      await pauseOf(Math.max(0, nextAt - Date.now()) / 1000, signal);
      nextAt = Date.now() + ASK_EVERY_MS;
      await parts.send(parts.missing().slice(0, BATCH), signal);
    } else if (fileHash !== undefined) return fileHash;
    else await hashes.more(hashed);
    signal.throwIfAborted();
  }
}

/** Failures count as long as nothing arrives between them. */
async function sendPatiently(parts: Parts, hashes: Hashes, signal: AbortSignal): Promise<string> {
  for (let failures = 0; ; failures++) {
    const before = parts.transferred();
    try {
      return await sendAll(parts, hashes, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (parts.transferred() > before) failures = 0;
      if (!isTemporary(error) || failures >= RETRIES_MAX) throw error;
      await pauseOf(retryAfterSeconds(error) ?? 2 ** failures, signal);
    }
  }
}

/** An address may have expired, and a part may have been damaged on its way: the next try has new addresses. */
const isTemporary = (error: unknown): boolean =>
  isTransient(error) || (error instanceof ClientError && error.code === STORAGE_ERROR);

const pauseOf = (seconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("The upload was paused", "AbortError"));
    });
  });

type Parts = ReturnType<typeof createParts>;

/** The parts of the file, by number: which of them the storage has. */
function createParts(
  file: File,
  { id, part_size }: Pick<Upload, "id" | "part_size">,
  hashes: ReadonlyMap<number, string>,
  onProgress: () => void,
) {
  /** Their SHA-256: a part of the same number may be of another file. */
  let received = new Map<number, string>();
  const onTheirWay = new Map<number, number>();
  let arrived = 0;
  const isStored = (number: number): boolean => received.has(number) && received.get(number) === hashes.get(number);
  const bytesOf = (number: number): Blob => file.slice((number - 1) * part_size, number * part_size);

  const sendOne = async (
    number: number,
    sha256: string,
    address: Pick<Parameters<typeof sendPart>[0], "url" | "headers" | "signal">,
  ) => {
    const bytes = bytesOf(number);
    const note = (sent: number): void => {
      onTheirWay.set(number, Math.min(sent, bytes.size));
      onProgress();
    };
    try {
      await sendPart({ ...address, bytes, onProgress: note });
      received.set(number, sha256);
      arrived += bytes.size;
    } finally {
      onTheirWay.delete(number);
      onProgress();
    }
  };

  const addUp = (sizes: Iterable<number>): number => [...sizes].reduce((sum, bytes) => sum + bytes, 0);

  return {
    ask: async (signal: AbortSignal): Promise<void> => {
      const { data } = await client.uploads.get({ params: { id }, signal });
      received = new Map(data.parts.map(({ number, sha256 }) => [number, sha256]));
    },
    /** Hashed parts that aren't stored yet. */
    missing: (): number[] => [...hashes.keys()].filter((number) => !isStored(number)),
    send: async (numbers: readonly number[], signal: AbortSignal): Promise<void> => {
      const requested = numbers.map((number) => ({ number, sha256: hashes.get(number) ?? "" }));
      const { data } = await client.uploads.parts({ params: { id }, body: { parts: requested }, signal });
      await concurrently(PARTS_AT_ONCE, data.parts, async ({ number, url, headers }) =>
        sendOne(number, hashes.get(number) ?? "", { url, headers, signal }),
      ).catch((error: unknown) => {
        throw error instanceof AggregateError ? error.errors[0] : error;
      });
    },
    sent: (): number =>
      addUp([...hashes.keys()].map((number) => (isStored(number) ? bytesOf(number).size : 0))) + addUp(onTheirWay.values()),
    /** Bytes that this page has sent. */
    transferred: (): number => arrived + addUp(onTheirWay.values()),
  };
}
