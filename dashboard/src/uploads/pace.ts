// How fast something goes: the bytes of the last seconds.

const WINDOW_MS = 10_000;
/** Less says nothing yet. */
const ENOUGH_MS = 1_000;

export function createPace() {
  let samples: { at: number; bytes: number }[] = [];
  return {
    /** Bytes per second; undefined until it is known. */
    note: (bytes: number): number | undefined => {
      const at = Date.now();
      samples = [...samples.filter((each) => at - each.at <= WINDOW_MS), { at, bytes }];
      const [first] = samples;
      if (first === undefined || at - first.at < ENOUGH_MS) return undefined;
      return Math.max(0, ((bytes - first.bytes) * 1000) / (at - first.at));
    },
    /** Starts again after a pause. */
    restart: (): void => void (samples = []),
  };
}
