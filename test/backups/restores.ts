// Restores, as tests of the endpoint ask for them.
import type { Backup } from "../../shared/api/backups.ts";
import { Instance } from "../../shared/api/instances.ts";
import type { TestAccount } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";

export const OLD = { orders: 1 };
export const NEW = { orders: 2 };

/** `me` has servers for instances, and `api` one of its tokens; both are asked for at each request. */
export function restoresOf(of: () => { me: TestAccount; api: Client }) {
  const write = (id: string, data: unknown) => of().api.put(`/sandbox/instances/${id}/data`, data);
  return {
    write,
    dataOf: async (id: string) => JSON.parse((await of().api.get(`/sandbox/instances/${id}/data`)).text).data as unknown,
    show: async (id: string) => (await of().api.get(`/instances/${id}`)).as(Instance),
    restore: (backup: { id: string }, body?: unknown) => of().api.post(`/backups/${backup.id}/restore`, body),
    /** An instance with the data NEW, and its backup with the data OLD. */
    changedSince: async (note?: string): Promise<{ instance: Instance; backup: Backup }> => {
      const { me } = of();
      const instance = await me.instance();
      await write(instance.id, OLD);
      const backup = await me.backup(instance.id, note === undefined ? {} : { note });
      await write(instance.id, NEW);
      return { instance, backup };
    },
  };
}
