// The API's client in the browser: signed in with the session; a 401 response ends the session.
import { createClient } from "../../../shared/api/client.ts";
import { BASE_PATH } from "../../../shared/api/index.ts";
import { noteDate } from "../session/clock.ts";
import { endSession, session } from "../session/session.ts";

export const client = createClient({
  baseUrl: BASE_PATH,
  token: () => session()?.token,
  fetch: async (...request) => {
    const token = session()?.token;
    const response = await fetch(...request);
    noteDate(response.headers.get("date"));
    // A response that arrives after another sign-in does not affect the new session.
    if (response.status === 401 && token !== undefined && session()?.token === token) endSession("ended");
    return response;
  },
});
