// Ends the session on time, even if the machine was asleep.
import { useEffect } from "react";
import { endOf, endSession, useSession } from "./session.ts";

export function useExpiry(): void {
  const session = useSession();
  const ends = session === undefined ? undefined : endOf(session);
  useEffect(() => {
    if (ends === undefined) return undefined;
    const end = () => {
      if (Date.now() >= ends) endSession("expired");
    };
    const timer = setTimeout(end, ends - Date.now());
    document.addEventListener("visibilitychange", end);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", end);
    };
  }, [ends]);
}
