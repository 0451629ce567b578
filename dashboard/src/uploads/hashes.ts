// The SHA-256 of a file and of its parts, as they become known.
import { ClientError } from "../../../shared/api/client-of.ts";
import { text } from "../messages/text.ts";
import type { Hashed, ToHash } from "./hash-worker.ts";

export const FILE_UNREADABLE = "FILE_UNREADABLE";

export interface Hashes {
  /** The hashes of the parts by number; in order, from the first on. */
  parts: ReadonlyMap<number, string>;
  /** Resolves when there are more parts than that, or the whole is known. */
  more: (than: number) => Promise<void>;
  /** Hash of the whole file, once all of it is read. */
  fileHash: () => string | undefined;
  stop: () => void;
}

export function startHashing(of: ToHash, onProgress: () => void): Hashes {
  const parts = new Map<number, string>();
  const read: { fileHash?: string; failure?: Error } = {};
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    for (const each of waiting) each();
    waiting = [];
    onProgress();
  };
  const fail = (failure: Error): void => {
    read.failure = failure;
    wake();
  };
  const unreadable = (cause: string): Error => new ClientError(FILE_UNREADABLE, text.uploads.file.unreadable, { cause });
  const begin = (): Worker => {
    delete read.failure;
    const hashWorker = new Worker(new URL("./hash-worker.ts", import.meta.url), { type: "module" });
    hashWorker.addEventListener("message", ({ data }: MessageEvent<Hashed>) => {
      if ("failed" in data) return fail(unreadable(data.failed));
      if ("whole" in data) read.fileHash = data.whole;
      else parts.set(data.number, data.sha256);
      wake();
    });
    hashWorker.addEventListener("error", (event) => {
      // Only an error of its script has a message: without one, its file did not load.
      if (event instanceof ErrorEvent) return fail(unreadable(event.message));
      worker = undefined;
      fail(new ClientError("NETWORK_ERROR", "A file could not be loaded"));
    });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
    hashWorker.postMessage(of);
    return hashWorker;
  };
  let worker: Worker | undefined = begin();
  return {
    parts,
    more: async (than) => {
      worker ??= begin();
      while (parts.size <= than && read.fileHash === undefined) {
        if (read.failure !== undefined) throw read.failure;
        await new Promise<void>((resolve) => void waiting.push(resolve));
      }
    },
    fileHash: () => read.fileHash,
    stop: () => worker?.terminate(),
  };
}
