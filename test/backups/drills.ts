// Drills as a client runs them, and what is left of each.
import { expect } from "vitest";
import { Backup } from "../../shared/api/backups.ts";
import { Operation } from "../../shared/api/operations.ts";
import type { TestAccount } from "../harness/account.ts";
import type { TestCloud } from "../harness/facts.ts";
import { expectFree, snapshotOf } from "../workflows/snapshot.ts";

/** Takes a function, because a file has its account only once its hooks have run. */
export function drillsOf(world: () => { cloud: TestCloud; me: TestAccount }) {
  const begin = async (id: string, body: object = {}): Promise<Operation> =>
    (await world().me.api.post(`/backups/${id}/drill`, body)).as(Operation);
  const show = async (id: string): Promise<Backup> => (await world().me.api.get(`/backups/${id}`)).as(Backup);
  async function drilled(id: string, body: object = {}): Promise<Backup> {
    const { cloud, me } = world();
    const { result } = await me.until((await begin(id, body)).id);
    const backup = await show(id);
    expect(backup.drill).toMatchObject(result?.drill ?? {});
    expectFree(await snapshotOf(cloud, me.id));
    return backup;
  }
  return { begin, show, drilled };
}

/** Whether each check has passed; null for those that were not made. */
export const passedOf = ({ drill }: Backup) =>
  Object.fromEntries((drill?.checks ?? []).map(({ name, passed }) => [name, passed]));
