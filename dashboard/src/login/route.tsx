// The sign-in page of a session that has ended, and the way back from it.
import { Navigate, useLocation } from "react-router";
import { EnvironmentBanner } from "../app/environment.tsx";
import { useSession } from "../session/session.ts";
import Login from "./login.tsx";
import { wayBackIn } from "./way-back.ts";

export default function LoginRoute() {
  const { state }: { state: unknown } = useLocation();
  if (useSession() !== undefined) return <Navigate to={wayBackIn(state)} replace />;
  return (
    <>
      <EnvironmentBanner />
      <Login />
    </>
  );
}
