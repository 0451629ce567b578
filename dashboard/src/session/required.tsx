// What only a signed-in person sees; anyone else logs in first and comes back to where they were.
import type { ReactNode } from "react";
import { Navigate, useLocation } from "react-router";
import { useExpiry } from "./expiry.ts";
import { useSession } from "./session.ts";

export function SessionRequired({ children }: { children: ReactNode }) {
  const session = useSession();
  const { pathname, search } = useLocation();
  useExpiry();
  // By the session's own key, so that nothing of one person's is left on the page for the next.
  if (session !== undefined) return <div key={session.user.id}>{children}</div>;
  return <Navigate to="/login" replace state={{ from: `${pathname}${search}` }} />;
}
