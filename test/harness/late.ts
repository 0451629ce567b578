// Requests that a busy machine made late, so that their write may count twice.
import { CALLS } from "../../shared/platform/aws-calls.ts";

/** After this a write is repeated (`CALLS`), and if only its response was late, it counts twice: docs/guarantees.md says so. */
const RESPONSE_MS = CALLS.requestHandler.requestTimeout;

/** Counts what took so long that its write may have been repeated. */
export function lateness() {
  let late = 0;
  return {
    late: () => late,
    timed: async <T>(work: () => Promise<T>): Promise<T> => {
      const began = performance.now();
      try {
        return await work();
      } finally {
        if (performance.now() - began >= RESPONSE_MS) late += 1;
      }
    },
  };
}
