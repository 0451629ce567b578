// How many deploys of an instance are kept.
import { expect, test } from "vitest";
import * as z from "zod";
import { Deploy } from "../../shared/api/deploys.ts";
import { account } from "../harness/account.ts";

test("only the newest twenty deploys are kept", async () => {
  const me = await account({ seeded: true });
  const { id } = await me.instance();
  const all: string[] = [];
  for (let count = 0; count < 21; count++) {
    const { api } = await me.token();
    const body = { rehearse: false, backup_first: false };
    const deploy = (await api.post(`/instances/${id}/deploys`, body)).as(Deploy);
    await me.until(deploy.operation_id);
    all.push(deploy.id);
  }
  const { api } = await me.token();
  const listed = (await api.get(`/instances/${id}/deploys?per_page=100`)).as(z.array(Deploy));
  expect(listed.map((deploy) => deploy.id)).toEqual(all.slice(1).toReversed());
  expect((await api.get(`/deploys/${all[0]}`)).status).toBe(404);
});
