// Creating and deleting servers at real providers' APIs, with every way in which these can reject or fail.
import { describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { handler as check } from "../../functions/schedules/check-servers.ts";
import { handler as sweep } from "../../functions/schedules/sweep.ts";
import { keys } from "../../shared/data/keys.ts";
import { getServer } from "../../shared/records/servers.ts";
import { putIfAbsent, updateOne } from "../../shared/data/table.ts";
import { because } from "../../shared/domain/reasons.ts";
import { GiveUp } from "../../shared/platform/task-errors.ts";
import { initialSshTrust, userData } from "../../shared/providers/first-boot.ts";
import { pass } from "./executions.ts";
import { type FakeRequest, type Fault, GOOD_FATE } from "./fake.ts";
import { errorResponse as ofDigitalOcean } from "./fake-digitalocean.ts";
import { errorResponse as ofHetzner } from "./fake-hetzner.ts";
import { jobs, keyMadeOn, misbehave, unreachable } from "./fake-host.ts";
import { here, accountId, machinesOf, billed, orders, rejected, fail, expectFailed, expectMadeOnce } from "./rented.ts";
import { isList, isOrder, PROVIDERS, RENTED } from "./table.ts";

vi.mock("../../shared/hosts/ssh.ts", () => import("./fake-host.ts"));

/** Waits of minutes are over at once. */
function hurry(): void {
  const wait = globalThis.setTimeout;
  const quick = (run: (...values: unknown[]) => void, milliseconds = 0, ...values: unknown[]) =>
    wait(run, milliseconds > 60_000 ? 1 : milliseconds, ...values);
  vi.stubGlobal("setTimeout", quick);
  onTestFinished(() => void vi.stubGlobal("setTimeout", wait));
}

describe.each(RENTED)("%s", (provider) => {
  const { errorResponse, outOfCapacity, quotaExceeded, busy } = PROVIDERS[provider];

  test("a machine is first verified by a one-time host key, and from then on by the key that it generated", async () => {
    const outcome = await here.create(accountId, provider);
    const { server, operation } = outcome;
    expect(server).toMatchObject({ state: "ready", ssh_port: 22, requested_at: null });
    expect(server.ip_address).toMatch(/^(192\.0\.2|198\.51\.100)\./);
    const [first] = jobs.get(`${operation.id}-prepareHost`)?.host_keys ?? [];
    const key = keyMadeOn(server.machine_id ?? "");
    expect(jobs.get(`${operation.id}-prepareHost-adopt`)?.host_keys, "both while they change").toEqual([first, key]);
    expect(server.host_keys).toEqual([key]);
    const [machine] = billed(provider);
    const config: unknown = JSON.parse(machine?.order.user_data.split("\n")[1] ?? "");
    expect(config).toMatchObject({
      hostname: server.name,
      ssh_pwauth: false,
      ssh_keys: { ed25519_public: first },
      ssh_authorized_keys: [expect.stringMatching(/^ssh-ed25519 /)],
      write_files: [{ path: "/etc/erp-hosting/one-time-host-key" }],
    });
    await expectMadeOnce(provider, outcome);
  });

  test("the provider gets the service's key once, for all machines", async () => {
    for (let count = 0; count < 2; count++) await expectMadeOnce(provider, await here.create(accountId, provider));
    expect(here[provider].keys).toHaveLength(1);
  });

  test.each<[string, Fault]>([
    ["lost", { kind: "lost" }],
    ["an error page of a proxy", { kind: "broken" }],
    ["cut off", { kind: "dropped" }],
    ["the error 500", rejected(errorResponse(500, "server_error"))],
    ["the error 503", rejected(errorResponse(503, "unavailable"))],
  ])("an order whose response is %s buys one machine", async (_, fault) => {
    fail(provider, fault, 2);
    await expectMadeOnce(provider, await here.create(accountId, provider));
  });

  test("two concurrent runs of a task order one machine, whichever is slower", async () => {
    // The first order also creates the key at the provider; keys are unique, so one of the two runs may stop by itself.
    for (const pauses of [0, 0, 1, 2]) {
      const twin = (task: string) => (task === "requestMachine" ? () => pauses : undefined);
      const outcome = await here.create(accountId, provider, { twin });
      expect(machinesOf(provider), `with pauses of ${pauses}`).toHaveLength(1);
      await expectMadeOnce(provider, outcome);
      machinesOf(provider).length = 0;
    }
  });

  test("a task that reaches its order after the creation was abandoned orders nothing", async () => {
    // One run has seen that nothing was ordered. Meanwhile the other one's order is rejected, and the creation has ended.
    fail(provider, rejected(quotaExceeded[0]), 1);
    let looks = 0;
    const twin = (task: string) => (task === "requestMachine" ? () => (looks++ === 2 ? 2 : 0) : undefined);
    expectFailed(await here.create(accountId, provider, { twin }), "PROVIDER_QUOTA_EXCEEDED");
    expect(machinesOf(provider)).toEqual([]);
  });

  test("slow lists before an order do not shorten the time in which its machine may still appear", async () => {
    let slow = 2;
    let lost = 1;
    here[provider].fault = (request) => {
      if (isOrder(request)) return lost-- > 0 ? { kind: "lost" } : undefined;
      return /images|keys/.test(request.path) && slow-- > 0 ? { kind: "slow", seconds: 28 } : undefined;
    };
    here[provider].fate = () => ({ ...GOOD_FATE, listed: 45 });
    const outcome = await here.create(accountId, provider);
    expect(machinesOf(provider)).toHaveLength(1);
    await expectMadeOnce(provider, outcome);
  });

  test("a list that was requested before the deadline does not count as one after it", async () => {
    fail(provider, { kind: "lost", seconds: 29 }, 1);
    const lost = here[provider].fault;
    here[provider].fault = (request) => lost(request) ?? (isList(request) ? { kind: "slow", seconds: 29 } : undefined);
    here[provider].fate = () => ({ ...GOOD_FATE, listed: 80 });
    await expectMadeOnce(provider, await here.create(accountId, provider));
    expect(machinesOf(provider)).toHaveLength(1);
  });

  test.each<["order" | "look" | "deletion", (request: FakeRequest) => boolean]>([
    ["order", isOrder],
    ["look", ({ method }) => method === "GET"],
    ["deletion", ({ method }) => method === "DELETE"],
  ])("a provider that accepts every %s and never responds leaves nothing behind once it responds again", async (what, isIt) => {
    const silent = (request: FakeRequest): Fault | undefined => (isIt(request) ? { kind: "lost", seconds: 30 } : undefined);
    if (what === "order") here[provider].fault = silent;
    const { server, operation } = await here.create(accountId, provider);
    expect(operation.state).toBe("succeeded");
    here[provider].fault = silent;
    const deletion = await here.remove(server);
    expect(deletion.state).toBe(what === "order" ? "succeeded" : "failed");
    here[provider].fault = () => undefined;
    if (what !== "order") expect((await here.remove(await getServer(accountId, server.id))).state).toBe("succeeded");
    pass(GOOD_FATE.lingers);
    expect(machinesOf(provider)).toHaveLength(1);
    expect(billed(provider)).toEqual([]);
  });

  const failed = () => {
    throw new GiveUp("HOST_JOB_FAILED", because("erp_does_not_stop"));
  };
  test.each<[string, () => { ready: false } | Promise<{ ready: false }>]>([
    ["fails", failed],
    ["returns nonsense", () => z.never().parse("nonsense")],
    ["never ends", () => ({ ready: false })],
    ["never responds", () => new Promise(() => undefined)],
  ])("a machine on which clearing %s is released", async (_, clearing) => {
    hurry();
    const { server } = await here.create(accountId, provider);
    misbehave.set("retire_host", clearing);
    expect((await here.remove(server)).state).toBe("succeeded");
    pass(GOOD_FATE.lingers);
    expect(billed(provider)).toEqual([]);

    misbehave.set("prepare_host", failed);
    expectFailed(await here.create(accountId, provider), "HOST_JOB_FAILED");
  });

  test("orders that never get a response fail the creation with PROVIDER_ERROR or TIMEOUT, whichever error the last poll got", async () => {
    fail(provider, { kind: "dropped" });
    const outcome = await here.create(accountId, provider);
    const code = outcome.operation.error?.code ?? "";
    expect(["PROVIDER_ERROR", "TIMEOUT"]).toContain(code);
    expectFailed(outcome, code);
  });

  test("a provider that never responds fails the creation with PROVIDER_ERROR", async () => {
    here[provider].fault = () => ({ kind: "dropped" });
    expectFailed(await here.create(accountId, provider), "PROVIDER_ERROR");
  });

  test.each(["retry-after", "ratelimit-reset"] as const)(
    "a rate-limited order waits as long as %s says, and then orders once",
    async (header) => {
      fail(provider, { kind: "limited", seconds: 55, header }, 1);
      const began = Date.now();
      const outcome = await here.create(accountId, provider);
      expect(Date.now() - began).toBeGreaterThan(55_000);
      expect(here[provider].impatient).toBe(0);
      expect(orders(provider)).toBe(2);
      await expectMadeOnce(provider, outcome);
    },
  );

  test.each([
    ["for lack of machines", outOfCapacity, "PROVIDER_OUT_OF_CAPACITY"],
    ["because of the operator's limits", quotaExceeded, "PROVIDER_QUOTA_EXCEEDED"],
  ])("an order that the provider rejects %s fails with its error after one order", async (_, errors, code) => {
    for (const error of errors) {
      here[provider].requests.length = 0;
      fail(provider, rejected(error));
      expectFailed(await here.create(accountId, provider), code);
      expect(orders(provider)).toBe(1);
    }
  });

  test("an order that the provider is too busy for is retried", async () => {
    for (const error of busy) {
      fail(provider, rejected(error), 2);
      await expectMadeOnce(provider, await here.create(accountId, provider));
    }
  });

  test("rejected credentials fail with PROVIDER_UNAUTHORIZED immediately", async () => {
    here[provider].fault = () => rejected(errorResponse(401, "unauthorized"));
    const outcome = await here.create(accountId, provider);
    expectFailed(outcome, "PROVIDER_UNAUTHORIZED");
    expect(outcome.operation.error?.message).not.toContain(here[provider].token);
    expect(orders(provider)).toBe(0);
  });

  test("a machine that vanishes after it was accepted fails with PROVIDER_ERROR", async () => {
    here[provider].fate = () => ({ ...GOOD_FATE, starts: 60, vanishes: 15 });
    expectFailed(await here.create(accountId, provider), "PROVIDER_ERROR");
  });

  test("a machine that never starts fails with TIMEOUT and is released", async () => {
    here[provider].fate = () => ({ ...GOOD_FATE, starts: Infinity });
    expectFailed(await here.create(accountId, provider), "TIMEOUT");
    expect(orders(provider)).toBe(1);
  });

  test("a machine that never responds fails the creation with TIMEOUT and is deleted", async () => {
    const silence = vi.spyOn(unreachable, "has").mockReturnValue(true);
    expectFailed(await here.create(accountId, provider), "TIMEOUT");
    silence.mockRestore();
  });

  test("a machine is deleted however long that takes, and however often the provider fails", async () => {
    const { server } = await here.create(accountId, provider);
    const errors = Array.from({ length: 5 }, () => busy).flat();
    here[provider].fault = ({ method }) => {
      const error = method === "DELETE" ? errors.pop() : undefined;
      return error && rejected(error);
    };
    expect((await here.remove(server)).state).toBe("succeeded");
    expect(billed(provider)).toEqual([]);
  });

  test("a machine that someone else deleted does not block the deletion", async () => {
    const { server } = await here.create(accountId, provider);
    for (const machine of billed(provider)) machine.deletedAt = 0;
    expect((await here.remove(server)).state).toBe("succeeded");
  });

  test("deleting a renamed server releases its machine", async () => {
    const { server } = await here.create(accountId, provider);
    await updateOne(
      keys.record("server", accountId, server.id),
      { set: { name: "another-name", machine_id: null, requested_at: server.created_at } },
      {},
    );
    pass(120);
    expect((await here.remove(await getServer(accountId, server.id))).state).toBe("succeeded");
    pass(GOOD_FATE.lingers);
    expect(billed(provider)).toEqual([]);
  });

  test("a health check reports a machine that was switched off, and one that is gone", async () => {
    const { server } = await here.create(accountId, provider);
    await putIfAbsent(keys.watchedServer(server.id), { account_id: accountId, server_id: server.id });
    unreachable.add(server.machine_id ?? "");
    const tell = async (): Promise<string | null> => {
      await updateOne(keys.record("server", accountId, server.id), { set: { state: "ready", failed_probes: 4 } }, {});
      await check();
      return (await getServer(accountId, server.id)).status_reason;
    };
    Object.assign(billed(provider)[0] ?? {}, { off: true });
    expect(await tell()).toBe("The machine is switched off at the provider");
    here[provider].fault = () => rejected(errorResponse(500, "server_error"));
    expect(await tell(), "the provider's trouble is not the machine's").toBe("The server does not respond to health checks");
    here[provider].fault = () => undefined;
    for (const machine of billed(provider)) machine.deletedAt = 0;
    expect(await tell()).toBe("The machine no longer exists at the provider");
  });

  test("machines of another deployment in the same project are left alone", async () => {
    const outcome = await here.create(accountId, provider);
    const [machine] = billed(provider);
    if (machine === undefined) throw new Error("There is no machine");
    const order: (typeof machine)["order"] = JSON.parse(JSON.stringify(machine.order).replaceAll("erp-live-", "erp-live-other-"));
    machinesOf(provider).push({ ...machine, id: 7, order, madeAt: 0 });
    expect((await here.remove(outcome.server)).state).toBe("succeeded");
    pass(24 * 3600);
    await sweep();
    expect(billed(provider).map(({ id }) => id)).toEqual([7]);
    machinesOf(provider).pop();
  });
});

describe("hetzner", () => {
  test.each([
    [403, "resource_limit_exceeded", "PROVIDER_QUOTA_EXCEEDED"],
    [412, "resource_unavailable", "PROVIDER_OUT_OF_CAPACITY"],
    [412, "placement_error", "PROVIDER_OUT_OF_CAPACITY"],
    [403, "token_readonly", "PROVIDER_UNAUTHORIZED"],
    [422, "invalid_input", "PROVIDER_ERROR"],
  ])("the error %i %s fails with %s after one order", async (status, code, expected) => {
    fail("hetzner", rejected(ofHetzner(status, code)));
    expectFailed(await here.create(accountId, "hetzner"), expected);
    expect(orders("hetzner")).toBe(1);
  });

  test.each([
    [409, "conflict"],
    [423, "locked"],
  ])("the error %i %s is retried", async (status, code) => {
    fail("hetzner", rejected(ofHetzner(status, code)), 2);
    await expectMadeOnce("hetzner", await here.create(accountId, "hetzner"));
  });
});

describe("digitalocean", () => {
  test.each([
    [422, "creating this/these droplet(s) will exceed your droplet limit", "PROVIDER_QUOTA_EXCEEDED"],
    [403, "You have reached your droplet limit", "PROVIDER_QUOTA_EXCEEDED"],
    [422, "Size is not available in this region.", "PROVIDER_OUT_OF_CAPACITY"],
    [403, "You are not authorized to perform this operation", "PROVIDER_UNAUTHORIZED"],
    [422, "You specified an invalid image", "PROVIDER_ERROR"],
  ])("the error %i “%s” fails with %s after one order", async (status, message, expected) => {
    fail("digitalocean", rejected(ofDigitalOcean(status, "unprocessable_entity", message)));
    expectFailed(await here.create(accountId, "digitalocean"), expected);
    expect(orders("digitalocean")).toBe(1);
  });

  test("an order whose response was lost is not repeated while the list may lag", async () => {
    fail("digitalocean", { kind: "lost" }, 1);
    here.digitalocean.fate = () => ({ ...GOOD_FATE, listed: 80 });
    const outcome = await here.create(accountId, "digitalocean");
    expect(orders("digitalocean")).toBe(1);
    await expectMadeOnce("digitalocean", outcome);
  });

  test("a list that lags even longer buys one machine twice, and the second is released as soon as it appears", async () => {
    const fates = [{ ...GOOD_FATE, listed: 150 }];
    fail("digitalocean", { kind: "lost" }, 1);
    here.digitalocean.fate = () => fates.pop() ?? { ...GOOD_FATE, starts: 60 };
    const outcome = await here.create(accountId, "digitalocean");
    expect(orders("digitalocean")).toBe(2);
    pass(GOOD_FATE.lingers);
    await expectMadeOnce("digitalocean", outcome);
  });

  test.each([false, true])(
    "the sweep releases a machine that appears after its creation was abandoned; undated: %s",
    async (undated) => {
      fail("digitalocean", { kind: "lost" }, 1);
      here.digitalocean.fate = () => ({ ...GOOD_FATE, listed: 2000 });
      const later = here.digitalocean.fault;
      here.digitalocean.fault = (request) =>
        later(request) ?? (isOrder(request) ? rejected(ofDigitalOcean(422, "x", "will exceed your droplet limit")) : undefined);
      const { operation } = await here.create(accountId, "digitalocean");
      expect(operation.error?.code).toBe("PROVIDER_QUOTA_EXCEEDED");
      expect(billed("digitalocean")).toHaveLength(1);
      pass(2000);
      for (const machine of billed("digitalocean")) machine.undated = undated;
      await sweep();
      pass(GOOD_FATE.lingers);
      expect(billed("digitalocean")).toEqual([]);
    },
  );
});

// The last one: from here on there are two keys.
test("a machine that was ordered before a rotation of the key is met by the host key that it was ordered with", async () => {
  const ordered = async () =>
    z
      .object({ ssh_keys: z.object({ ed25519_public: z.string() }) })
      .parse(JSON.parse((await userData({ operation_id: "op_1", name: "erp-1" })).replace(/^#.*\n/, ""))).ssh_keys.ed25519_public;
  const before = await ordered();
  await here.rotate();
  const after = await ordered();
  expect(after).not.toBe(before);
  expect((await initialSshTrust("op_1")).host_keys).toEqual([after, before]);
});
