// An account with many instances that are stopped, for tests of what is done with many at once.
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";

export const MANY = 30;

/** Creates an account in which `Idle 0` is the oldest instance, with room for ten more. */
export async function accountWithIdle(): Promise<TestAccount> {
  const owner = await account({ seeded: true });
  await setQuota(owner.id, "instance", MANY + 10);
  const server = await seedServer(owner.id, { name: "erp-1" });
  for (let i = 0; i < MANY; i++) {
    const created_at = new Date(Date.UTC(2026, 10, 1, 12, i)).toISOString(); // a list says which is the newest
    await seedInstance(owner.id, {
      server_id: server.id,
      name: `Idle ${i}`,
      state: "stopped",
      labels: { env: "test" },
      created_at,
    });
  }
  return owner;
}
