// The API's client in the browser: signed in as the session says; an answer 401 is the session's end.
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
    // An answer that comes after another sign-in says nothing of the new session.
    if (response.status === 401 && token !== undefined && session()?.token === token) endSession("ended");
    return response;
  },
});
