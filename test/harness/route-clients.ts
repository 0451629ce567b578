// Credentials for requests to any route: one for as many requests as its limits have room for.
import type { Route } from "../../shared/api/index.ts";
import { type Client, anonymous } from "./client.ts";
import type { TestAccount } from "./account.ts";

/** What a token may create or delete in a minute, the narrower of its limits. A request counts even if it fails. */
export const REQUESTS_MAX = 20;

type Wanted = Pick<Route, "access" | "fieldRole">;

/** Takes a function, because a file has its account only once its hooks have run. */
export function routeClients(account: () => TestAccount) {
  const used = new Map<string, { client: Client; left: number }>();
  const create = async ({ access, fieldRole }: Wanted): Promise<Client> =>
    access === "public"
      ? anonymous
      : access === "session" || fieldRole !== undefined
        ? account().session(await account().anotherUser())
        : (await account().token()).api;

  /** For so many requests to a route. */
  return async function clientFor(route: Wanted, requests: number): Promise<Client> {
    const kind = `${route.access} ${route.fieldRole !== undefined}`;
    const before = used.get(kind);
    const client = before !== undefined && before.left >= requests ? before.client : await create(route);
    used.set(kind, { client, left: (client === before?.client ? before.left : REQUESTS_MAX) - requests });
    return client;
  };
}
