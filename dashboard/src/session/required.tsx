// Content for signed-in users only; others sign in first and come back to where they were.
import type { ReactNode } from "react";
import { Navigate, useLocation } from "react-router";
import { useExpiry } from "./expiry.ts";
import { useSession } from "./session.ts";

export function SessionRequired({ children }: { children: ReactNode }) {
  const session = useSession();
  const { pathname, search } = useLocation();
  useExpiry();
  // Keyed by the session, so that the page keeps nothing of one user for the next.
  if (session !== undefined) return <div key={session.user.id}>{children}</div>;
  return <Navigate to="/login" replace state={{ from: `${pathname}${search}` }} />;
}
