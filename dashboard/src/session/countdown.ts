// Counts seconds down to zero.
import { useEffect, useState } from "react";

/** Starts again with every try. */
export function useCountdown(seconds: number | undefined, attempt: unknown): number {
  const [until, setUntil] = useState(0);
  useEffect(() => {
    setUntil(seconds === undefined ? 0 : Date.now() + seconds * 1000);
  }, [seconds, attempt]);
  return useSecondsUntil(until);
}

export function useSecondsUntil(until: number): number {
  const [secondsLeft, setSecondsLeft] = useState(0);
  useEffect(() => {
    const tick = (): void => {
      const seconds = Math.max(0, Math.ceil((until - Date.now()) / 1000));
      setSecondsLeft(seconds);
      if (seconds === 0) clearInterval(timer);
    };
    const timer = setInterval(tick, 1000);
    tick();
    return () => clearInterval(timer);
  }, [until]);
  return secondsLeft;
}
