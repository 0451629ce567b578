// POST /instances/:id/actions in each status.
import { beforeAll, describe, expect, test } from "vitest";
import { Instance } from "../../shared/api/instances.ts";
import { INSTANCE_STATUSES } from "../../shared/domain/lifecycle.ts";
import { Operation } from "../../shared/api/operations.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";
import { some } from "../harness/some.ts";

let me: TestAccount;
let serverId: string;
beforeAll(async () => {
  me = await account({ seeded: true });
  await setQuota(me.id, "server", 100);
  serverId = (await seedServer(me.id)).id;
});

const act = (api: Client, id: string, action: string) => api.post(`/instances/${id}/actions`, { action });
const show = async (id: string) => (await (await me.token()).api.get(`/instances/${id}`)).as(Instance);

/** The statuses from which each action may start, written out a second time. */
const FROM: Record<string, string[]> = {
  start: ["stopped", "failed"],
  stop: ["running"],
  restart: ["running", "failed"],
  backup: ["running", "stopped"],
};

const statuses = INSTANCE_STATUSES.map((state, place) => ({ state, place }));
describe.each(statuses)("an instance that is $state", ({ state, place }) => {
  test.each(some(Object.keys(FROM), 2, place))(
    "the action %s and allowed_actions follow the table of statuses",
    async (action) => {
      const instance = await seedInstance(me.id, { server_id: serverId, state });
      const { api } = await me.token();
      const allowed = FROM[action]?.includes(state) ?? false;
      expect((await show(instance.id)).allowed_actions.some((each) => each === action)).toBe(allowed);
      const response = await act(api, instance.id, action);
      if (allowed) {
        expect(response.as(Operation).type).toBe(action === "backup" ? "backup.create" : `instance.${action}`);
      } else {
        expect(response.status).toBe(409);
        expect(response.error).toMatchObject({ code: "INVALID_STATE", details: { status: state } });
        expect((await show(instance.id)).status).toBe(state);
      }
    },
  );
});
