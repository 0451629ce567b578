// Machines of the fakes of real providers: what is there, what goes wrong, and what must then be left. A file that imports it has
// them anew for each test, and puts ./fake-host.ts in the place of SSH.
import { beforeAll, beforeEach, expect, vi } from "vitest";
import { pass } from "./executions.ts";
import { type Fault, GOOD_FATE, isThere } from "./fake.ts";
import { misbehave, unreachable } from "./fake-host.ts";
import { type Outcome, type ProviderHarness, providerHarness } from "./harness.ts";
import { isOrder, type Rented, RENTED } from "./table.ts";

export let here: ProviderHarness;
export let accountId: string;
beforeAll(async () => {
  here = await providerHarness();
  accountId = await here.account();
});
beforeEach(() => {
  for (const provider of RENTED) {
    const fake = here[provider];
    fake.fault = () => undefined;
    fake.fate = () => GOOD_FATE;
    fake.requests.length = 0;
    fake.impatient = 0;
  }
  for (const provider of RENTED) machinesOf(provider).length = 0;
  unreachable.clear();
  misbehave.clear();
  vi.restoreAllMocks();
});

export const machinesOf = (provider: Rented) => here[provider].machines;
export const billed = (provider: Rented) => machinesOf(provider).filter(isThere);
export const orders = (provider: Rented) => here[provider].requests.filter(isOrder).length;

/** Makes only orders fail, and only this often. */
export function fail(provider: Rented, fault: Fault, times = Infinity): void {
  let left = times;
  here[provider].fault = (request) => (isOrder(request) && left-- > 0 ? fault : undefined);
}
export const rejected = (response: Extract<Fault, { kind: "rejected" }>["response"]): Fault => ({ kind: "rejected", response });

/** The operation failed and says so, and nothing is left at the provider. */
export function expectFailed({ server, operation }: Outcome, code: string): void {
  expect(operation).toMatchObject({ state: "failed", error: { code } });
  expect(server).toMatchObject({ state: "create_failed", machine_id: null, ip_address: null, operation_id: null });
  expect(server.status_reason).toBe(operation.error?.message);
  pass(GOOD_FATE.lingers);
  for (const provider of RENTED) expect(billed(provider)).toEqual([]);
}

export async function expectMadeOnce(provider: Rented, { server, operation }: Outcome): Promise<void> {
  expect(operation.error).toBeNull();
  expect(billed(provider).map(({ id }) => String(id))).toEqual([server.machine_id]);
  expect((await here.remove(server)).state).toBe("succeeded");
  pass(GOOD_FATE.lingers);
  expect(billed(provider)).toEqual([]);
}
