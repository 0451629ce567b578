// Ends the session at the service and here; here also when the service cannot be told.
import { client } from "../app/client.ts";
import { endSession } from "./session.ts";

export async function logOut(): Promise<void> {
  try {
    await client.auth.logout({ body: {} });
    endSession("logged-out");
  } catch {
    // The log-in page says that the service was not told: the session ends there by its time.
    endSession("logged-out-here");
  }
}
