// Seconds that go down to zero, beginning anew with every attempt.
import { useEffect, useState } from "react";

export function useCountdown(seconds: number | undefined, attempt: number): number {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    if (seconds === undefined) {
      setLeft(0);
      return undefined;
    }
    const until = Date.now() + seconds * 1000;
    const tick = () => setLeft(Math.max(0, Math.ceil((until - Date.now()) / 1000)));
    tick();
    const timer = setInterval(tick, 1000);
    return () => clearInterval(timer);
  }, [seconds, attempt]);
  return left;
}
