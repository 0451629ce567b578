// Readings of logs end after three seconds, which is less than a function's first start may take here.
import { expect, vi } from "vitest";
import type { TestAccount } from "./account.ts";

/** Starts what reads logs. */
export async function warmLogs(owner: TestAccount): Promise<void> {
  const { id } = await owner.instance();
  const read = async () => (await owner.api.get(`/instances/${id}/logs?lines=1`)).status;
  await vi.waitFor(async () => expect(await read()).toBe(200), { timeout: 60_000, interval: 8_000 });
}
