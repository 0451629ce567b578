// Sends one part straight to the storage. With XMLHttpRequest, because fetch does not say how much is sent.
import { ClientError } from "../../../shared/api/client-of.ts";
import { text } from "../messages/text.ts";
import { MINUTE_MS } from "../../../shared/domain/durations.ts";

interface Sent {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** A slice of the file: the browser reads it as it sends it. */
  bytes: Blob;
  onProgress: (sent: number) => void;
  signal: AbortSignal;
}

/** A connection that is gone without a word would hold the upload for ever. */
const STALLED_MS = MINUTE_MS;

export const STORAGE_ERROR = "STORAGE_ERROR";

export const sendPart = ({ url, headers, bytes, onProgress, signal }: Sent): Promise<void> =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    const stall = (): void => {
      reject(unreachable());
      request.abort();
    };
    let stalled = setTimeout(stall, STALLED_MS);
    request.upload.addEventListener("progress", ({ loaded }) => {
      clearTimeout(stalled);
      stalled = setTimeout(stall, STALLED_MS);
      onProgress(loaded);
    });
    request.addEventListener("loadend", () => clearTimeout(stalled));
    request.addEventListener("load", () => {
      const { status } = request;
      if (status === 200) resolve();
      else reject(new ClientError(STORAGE_ERROR, text.uploads.rejected(status), { status }));
    });
    request.addEventListener("error", () => reject(unreachable()));
    request.addEventListener("abort", () => reject(new DOMException("The upload was paused", "AbortError")));
    signal.addEventListener("abort", () => request.abort(), { once: true });
    if (signal.aborted) {
      clearTimeout(stalled);
      reject(new DOMException("The upload was paused", "AbortError"));
    } else request.send(bytes);
  });

const unreachable = (): ClientError => new ClientError("NETWORK_ERROR", "The storage could not be reached");
