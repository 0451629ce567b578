// Ends the session at the service and here, or only here if the service is unreachable.
import { ClientError } from "../../../shared/api/client-of.ts";
import { client } from "../app/client.ts";
import { endSession } from "../session/session.ts";

export async function logOut(): Promise<void> {
  try {
    await client.auth.logout({ body: {} });
    endSession("logged-out");
  } catch (error) {
    // A 401 means that the session had already ended. After any other error the sign-in page says that the service was
    // unreachable.
    endSession(error instanceof ClientError && error.code === "UNAUTHORIZED" ? "logged-out" : "logged-out-here");
  }
}
