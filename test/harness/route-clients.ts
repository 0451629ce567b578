// Credentials for requests to any route: one for as many requests as its limits have room for.
import type { Route } from "../../shared/api/index.ts";
import { type Client, anonymous } from "./client.ts";
import type { TestAccount } from "./account.ts";

/** What a token may create or delete in a minute, the narrower of its limits. A request counts even if it fails. */
export const REQUESTS_MAX = 20;

type Wanted = Pick<Route, "access" | "fieldRole">;

/** Takes a function, because a file has its account only once its hooks have run. */
export function routeClients(account: () => TestAccount) {
  const used = new Map<boolean, { client: Client; left: number }>();
  const create = async (needsSession: boolean): Promise<Client> =>
    needsSession ? account().session(await account().anotherUser()) : (await account().token()).api;

  /** Returns a client that can send so many requests to a route. */
  return async function clientFor({ access, fieldRole }: Wanted, requests: number): Promise<Client> {
    if (access === "public") return anonymous;
    const needsSession = access === "session" || fieldRole !== undefined;
    const before = used.get(needsSession);
    const client = before !== undefined && before.left >= requests ? before.client : await create(needsSession);
    used.set(needsSession, { client, left: (client === before?.client ? before.left : REQUESTS_MAX) - requests });
    return client;
  };
}
