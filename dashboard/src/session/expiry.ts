// Ends the session at its time, also when the machine slept through it.
import { useEffect } from "react";
import { endSession, useSession } from "./session.ts";

export function useExpiry(): void {
  const expires = useSession()?.expires_at;
  useEffect(() => {
    if (expires === undefined) return undefined;
    const end = () => {
      if (Date.now() >= Date.parse(expires)) endSession("expired");
    };
    const timer = setTimeout(end, Date.parse(expires) - Date.now());
    document.addEventListener("visibilitychange", end);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", end);
    };
  }, [expires]);
}
