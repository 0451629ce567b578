// GET /instances/:id/metrics
import { beforeAll, expect, test } from "vitest";
import { Metrics } from "../../shared/api/metrics.ts";
import { MINUTE_SECONDS } from "../../shared/domain/durations.ts";
import { INSTANCE_SERIES, SERVER_SERIES } from "../../shared/domain/metrics.ts";
import { storeSamples } from "../../shared/records/metrics.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account({ seeded: true });
});

const now = Math.floor(Date.now() / 1000 / MINUTE_SECONDS) * MINUTE_SECONDS;
const figures = (requests: number) => INSTANCE_SERIES.map(({ name }) => (name === "requests" ? requests : null));
const showRequests = async (id: string) => {
  const { series } = (await me.api.get(`/instances/${id}/metrics?series=requests`)).as(Metrics);
  return series.map(({ name, unit, values }) => [name, unit, values.filter((value) => value !== null)]);
};

test("an instance's metrics are those that its own server reports of it", async () => {
  const [server, other] = [await seedServer(me.id), await seedServer(me.id)];
  const one = await seedInstance(me.id, { server_id: server.id });
  const two = await seedInstance(me.id, { server_id: server.id });
  const none = SERVER_SERIES.map(() => null);
  const visit = (id: string, instances: [string, number][]) =>
    storeSamples({ account_id: me.id, id }, [
      {
        at: now - 5 * MINUTE_SECONDS,
        server: none,
        instances: new Map(instances.map(([each, count]) => [each, figures(count)])),
      },
    ]);
  await visit(server.id, [
    [one.id, 12],
    [two.id, 30],
  ]);
  // A machine whose root is hostile.
  await visit(other.id, [[one.id, 9]]);
  expect(await showRequests(one.id)).toEqual([["requests", "per_minute", [12]]]);
  expect(await showRequests(two.id)).toEqual([["requests", "per_minute", [30]]]);
});

test("only who may read instances sees an instance's metrics, and nobody those of another account", async () => {
  const { id } = await seedInstance(me.id);
  const { api } = await me.token(["servers:read"]);
  expect((await api.get(`/instances/${id}/metrics`)).status).toBe(403);
  expect((await (await account()).api.get(`/instances/${id}/metrics`)).status).toBe(404);
  expect((await me.api.get(`/instances/${id}/metrics?series=cpu_percent`)).status).toBe(422);
});
