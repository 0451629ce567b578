// Credentials that end while eight clients use them: no request that is sent after the response is accepted.
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import * as auth from "../../shared/api/auth.ts";
import * as tokens from "../../shared/api/tokens.ts";
import { deleteUser, resetPassword } from "../../shared/operations/accounts/operator.ts";
import { account, unique } from "../harness/account.ts";
import { type ApiResponse, type Client, clientWith, anonymous } from "../harness/client.ts";
import { newestLink } from "../harness/links.ts";
import { prove } from "./prove.ts";
import type { Random } from "./random.ts";

/** A credential, and what ends it. */
interface Way {
  api: Pick<Client, "get">;
  end: () => Promise<unknown>;
  /** What rejects it; otherwise a 401. */
  rejected?: readonly number[];
  /** Sessions that it has opened, which end with it. */
  opened?: readonly Client[];
}

const CLIENTS = 8;
/** Within the limits of one credential: after these, none of the requests may be rejected for its rate. */
const REQUESTS_EACH = 4;
const AFTERWARDS = 2;

/** The status of a request's decision. A 503 decides nothing, it accepts nothing and rejects nothing. Clients retry it. */
async function decided(api: Way["api"]): Promise<number> {
  const { status } = await api.get("/auth/me");
  return status === 503 ? decided(api) : status;
}

/** An address of its own: failures of one are limited. */
const anywhere = (random: Random): string => `127.${1 + random.below(250)}.${random.below(250)}.${1 + random.below(250)}`;

prove("revocation", async () => {
  const me = await account();
  let admin: Client | undefined;
  let deletions = 0;
  /** A session deletes fewer than 20 tokens a minute. */
  const session = async (): Promise<Client> => {
    if (admin === undefined || ++deletions % 15 === 0) admin = await me.session(await me.anotherUser());
    return admin;
  };

  const ways: Record<string, (random: Random) => Promise<Way>> = {
    "a token is deleted": async () => {
      const { id, api } = await me.token();
      const by = await session();
      return { api, end: async () => expect((await by.delete(`/tokens/${id}`)).status).toBe(200) };
    },
    "a user signs out": async () => {
      const api = await me.session(await me.anotherUser());
      return { api, end: async () => expect((await api.post("/auth/logout")).status).toBe(200) };
    },
    "a user changes the password in another session": async () => {
      const user = await me.anotherUser();
      const [api, other] = [await me.session(user), await me.session(user)];
      const body = { current_password: user.password, new_password: `${randomUUID()}!` };
      return { api, end: async () => expect((await other.put("/auth/password", body)).status).toBe(200) };
    },
    "a user ends the session in another one": async () => {
      const user = await me.anotherUser();
      const [api, other] = [await me.session(user), await me.session(user)];
      const open = (await api.get("/auth/sessions")).as(auth.listSessions().data);
      const id = open.find(({ current }) => current)?.id ?? expect.fail("There is a current session");
      return { api, end: async () => expect((await other.delete(`/auth/sessions/${id}`)).status).toBe(200) };
    },
    "a link sets another password": async (random) => {
      const user = await me.anotherUser();
      const api = await me.session(user);
      const from = anywhere(random);
      await anonymous.post("/auth/password-reset", { email: user.email }, { from });
      const body = { token: await newestLink(me.id, "password_reset", user.id), new_password: `${randomUUID()}!` };
      const end = async () => expect((await anonymous.post("/auth/password-reset/confirm", body, { from })).status).toBe(200);
      return { api, end };
    },
    "an owner rotates the token, without an overlap": async () => {
      const { id, api } = await me.token();
      const by = await session();
      return { api, end: async () => expect((await by.post(`/tokens/${id}/rotate`, { overlap_hours: 0 })).status).toBe(201) };
    },
    "an owner removes the user": async () => {
      const user = await me.anotherUser();
      const by = await session();
      return { api: await me.session(user), end: async () => expect((await by.delete(`/users/${user.id}`)).status).toBe(200) };
    },
    "an owner removes the user who created the token, and revokes it": async () => {
      const user = await me.anotherUser({ role: "admin" });
      const body = { name: unique("token"), permissions: ["servers:read"] };
      const { token } = (await (await me.session(user)).post("/tokens", body)).as(tokens.create().data);
      const by = await session();
      const end = async () => expect((await by.delete(`/users/${user.id}?revoke_tokens=true`)).status).toBe(200);
      return { api: clientWith(token), end };
    },
    "an owner takes the user's role away": async () => {
      const user = await me.anotherUser({ role: "admin" });
      const [by, session] = [await me.session(await me.anotherUser()), await me.session(user)];
      return {
        api: { get: () => session.get("/settings") },
        end: async () =>
          expect((await by.put(`/users/${user.id}`, { role: "custom", permissions: ["servers:read"] })).status).toBe(200),
        rejected: [403],
      };
    },
    "the operator removes the user": async () => {
      const user = await me.anotherUser();
      return { api: await me.session(user), end: () => deleteUser(user.email) };
    },
    "the operator sets another password": async () => {
      const user = await me.anotherUser();
      return { api: await me.session(user), end: () => resetPassword(user.email, `${randomUUID()}!`) };
    },
    "the operator sets another password during sign-ins with the old one": async (random) => {
      const user = await me.anotherUser();
      const from = anywhere(random);
      const opened: Client[] = [];
      const signIn = async (): Promise<ApiResponse> => {
        const response = await anonymous.post("/auth/login", { email: user.email, password: user.password }, { from });
        if (response.status === 200) opened.push(clientWith(response.as(auth.login().data).token));
        return response;
      };
      return {
        api: { get: signIn },
        end: () => resetPassword(user.email, `${randomUUID()}!`),
        rejected: [401, 429],
        opened,
      };
    },
  };

  return {
    // Most credentials are tokens, and passwords take long to check.
    points: Object.keys(ways).flatMap((way) =>
      Array.from({ length: way.startsWith("a token") ? 10 : 1 }, (_, i) => `${way}${" ".repeat(i)}`),
    ),
    trial: async ({ point, random }) => {
      const way = (await ways[point.trim()]?.(random)) ?? expect.fail(`There is no way ${point}`);
      const { api, end, rejected = [401], opened = [] } = way;
      let ended = false;
      let sent = 0;
      const endAt = random.below((CLIENTS * REQUESTS_EACH) / 2);
      const reached = Promise.withResolvers<void>();
      const late: number[] = [];
      const client = async (): Promise<void> => {
        let after = 0;
        for (let request = 0; request < REQUESTS_EACH || after < AFTERWARDS; request++) {
          if (sent++ === endAt) reached.resolve();
          const wasEnded = ended;
          const status = await decided(api);
          if (wasEnded) {
            late.push(status);
            after += 1;
          } else expect([200, 401, 403, 429]).toContain(status);
        }
      };
      const ending = reached.promise.then(end).then(() => void (ended = true));
      await Promise.all([...Array.from({ length: CLIENTS }, client), ending]);
      expect(late.length).toBeGreaterThanOrEqual(CLIENTS * AFTERWARDS);
      expect(
        late.filter((status) => !rejected.includes(status)),
        "accepted after the response",
      ).toEqual([]);
      expect(rejected, "revived").toContain(await decided(api));
      const sessions = await Promise.all(opened.map(decided));
      expect(
        sessions.filter((status) => status !== 401),
        "sessions that were opened meanwhile",
      ).toEqual([]);
    },
  };
});
