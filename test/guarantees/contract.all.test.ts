// Every kind of response of every endpoint, against the API description as clients get it.
import { expect } from "vitest";
import { account, unusedId } from "../harness/account.ts";
import { type ApiResponse, type Client, anonymous } from "../harness/client.ts";
import { bodyOf, everyRoute, fieldsOf, idKindOf, mistakesIn, pathOf } from "../harness/requests.ts";
import { validated } from "../harness/described.ts";
import { prove } from "./prove.ts";
import { kinds, newWorld, requestOf, send } from "./world.ts";

type Route = (typeof everyRoute)[number];
type Ask = (api: Client, route: Route) => Promise<ApiResponse>;

/** How to get each kind of response. */
const WAYS: Record<string, Ask> = {
  "no such resource": (api, route) => api.send(route.method, pathOf(route), bodyOf(route)),
  "no credential": (_, route) => anonymous.send(route.method, pathOf(route), bodyOf(route), { from: "127.0.9.1" }),
  "another method": (api, route) => api.send("PATCH", pathOf(route), bodyOf(route)),
  "no JSON": (api, route) => api.send(route.method, pathOf(route), route.method === "GET" ? undefined : "{"),
  "another media type": (api, route) =>
    api.send(route.method, pathOf(route), route.method === "GET" ? undefined : "{}", {
      headers: { "content-type": "text/plain" },
    }),
  "too large": (api, route) =>
    api.send(route.method, pathOf(route), route.method === "GET" ? undefined : `{"a":"${"x".repeat(70_000)}"}`),
  "an unknown field": (api, route) =>
    api.send(route.method, pathOf(route), route.method === "GET" ? undefined : { ...bodyOf(route), no_such_field: 1 }),
  "an unknown parameter": (api, route) => api.send(route.method, `${pathOf(route)}?no_such_parameter=1`, bodyOf(route)),
  "an invalid key": (api, route) => api.send(route.method, pathOf(route), bodyOf(route), { headers: { "idempotency-key": "" } }),
  "another version": (api, route) =>
    api.send(route.method, pathOf(route), bodyOf(route), { headers: { "if-match": '"another"' } }),
  "only a head": (api, route) =>
    api.send(route.method === "GET" ? "HEAD" : route.method, pathOf(route, unusedIdOf(route)), bodyOf(route)),
};
const unusedIdOf = (route: Route): string | undefined => (route.path.includes(":id") ? unusedId(idKindOf(route)) : undefined);

const places = everyRoute.flatMap((route) => Object.keys(WAYS).map((way) => ({ label: `${route.title}: ${way}`, route, way })));
const byLabel = new Map(places.map((place) => [place.label, place]));
const valid = new Map(kinds.map((kind) => [`${kind.label}: a valid request`, kind]));

prove("contract", async () => {
  const me = await account();
  const before = validated();
  return {
    points: [...byLabel.keys(), ...valid.keys()],
    trial: async ({ point, random }) => {
      const kind = valid.get(point);
      if (kind !== undefined) {
        const world = await newWorld();
        const api =
          kind.route.access === "session" || kind.route.fieldRole !== undefined
            ? await world.me.session(await world.me.anotherUser())
            : (await world.me.token()).api;
        await send(api, await requestOf(kind, world));
        return;
      }
      const { route, way } = byLabel.get(point) ?? expect.fail(`There is no point ${point}`);
      const api =
        (route.access === "session" && route.id !== "auth.logout") || route.fieldRole !== undefined
          ? await me.session(await me.anotherUser())
          : (await me.token()).api;
      // The client validates every response against the description.
      expect((await WAYS[way]?.(api, route))?.status).toBeLessThan(500);
      const [name, field] = random.oneOf([...fieldsOf(route.body).fields, ["", undefined] as const]);
      if (field === undefined) return;
      const { value } = random.oneOf(mistakesIn(field));
      expect((await api.send(route.method, pathOf(route), { ...bodyOf(route), [name]: value })).status).toBeLessThan(500);
    },
    finish: () => expect(validated() - before, "responses that were validated").toBeGreaterThan(0),
  };
});
