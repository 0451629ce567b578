// Nonsense in place of a provider's responses: no machine is bought twice, and none counts as gone.
import { describe, expect, test, vi } from "vitest";
import { getServer } from "../../shared/records/servers.ts";
import { pass } from "./executions.ts";
import { GOOD_FATE, NONSENSE } from "./fake.ts";
import { here, accountId, billed, orders, rejected, fail, expectFailed, expectMadeOnce } from "./rented.ts";
import { RENTED } from "./table.ts";

vi.mock("../../shared/hosts/ssh.ts", () => import("./fake-host.ts"));

describe.each(RENTED)("%s", (provider) => {
  describe.each(Object.keys(NONSENSE).map((what) => ({ what })))(
    "when $what arrives instead of the provider's response",
    ({ what }) => {
      const nonsense = NONSENSE[what] ?? { status: 500 };

      const toOrders = async () => {
        for (const fault of [rejected(nonsense), { kind: "broken", response: nonsense } as const]) {
          fail(provider, fault, 2);
          await expectMadeOnce(provider, await here.create(accountId, provider));
        }
      };

      const toEverything = async () => {
        here[provider].fault = () => rejected(nonsense);
        expectFailed(await here.create(accountId, provider), "PROVIDER_ERROR");
        expect(orders(provider)).toBe(0);
      };

      const toLooksAndDeletions = async () => {
        const { server } = await here.create(accountId, provider);
        for (const method of ["GET", "DELETE"]) {
          here[provider].fault = (request) => (request.method === method ? rejected(nonsense) : undefined);
          const { state } = await here.remove(await getServer(accountId, server.id));
          expect([state, (await getServer(accountId, server.id)).machine_id]).toEqual(["failed", server.machine_id]);
        }
        here[provider].fault = () => undefined;
        expect((await here.remove(await getServer(accountId, server.id))).state).toBe("succeeded");
        pass(GOOD_FATE.lingers);
        expect(billed(provider)).toEqual([]);
      };

      const ways: [how: string, expectHeld: () => Promise<void>][] = [
        ["in response to an order, one machine is bought, whether or not the order took effect", toOrders],
        ["in response to every request, the creation fails and nothing is bought", toEverything],
        ["in response to every list or deletion, no machine counts as gone", toLooksAndDeletions],
      ];
      test.each(ways)("%s", (_, expectHeld) => expectHeld());
    },
  );
});
