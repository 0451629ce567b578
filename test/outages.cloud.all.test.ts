// This file tests what happens when a part of AWS is down: 503 in the envelope, and once it is back nothing is half done.
import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { AwsFault } from "../infra/local/errors.ts";
import { Backup } from "../shared/api/backups.ts";
import { Instance } from "../shared/api/instances.ts";
import { Operation } from "../shared/api/operations.ts";
import { ListedServer, Server } from "../shared/api/servers.ts";
import { getAccount } from "../shared/records/accounts.ts";
import { startChange } from "../shared/data/change.ts";
import { beginOperation, findOperation, reserveOperation } from "../shared/records/operations.ts";
import { withdrawOperation } from "../shared/operations/work/operation-ends.ts";
import { setQuota } from "../shared/operations/accounts/operator.ts";
import type { OperationRecord } from "../shared/records/schemas/operation.ts";
import { getServer, moveServerToDeleting } from "../shared/records/servers.ts";
import { ConditionFailed, putIfAbsent } from "../shared/data/table.ts";
import { newId } from "../shared/domain/ids.ts";
import { ensureStarted } from "../shared/runtime/begin.ts";
import { account, newPublicKey, type TestAccount, uniqueDomain } from "./harness/account.ts";
import type { Client } from "./harness/client.ts";
import { anonymous } from "./harness/client.ts";
import { processCloud } from "./harness/cloud.ts";
import type { TestCloud } from "./harness/facts.ts";
import { warmLogs } from "./harness/logs.ts";
import { giveUpEarly, holdWork } from "./harness/held-work.ts";
import { seedBackup, seedInstance, seedServer } from "./harness/seed.ts";
import { closedRoutes, bodyOf, wholePathOf } from "./harness/requests.ts";

let cloud: TestCloud;
let me: TestAccount;
let api: Client;
beforeAll(async () => {
  cloud = await processCloud();
});
beforeEach(async () => {
  me = await account();
  api = (await me.token()).api;
});

/** How long clients wait before they retry has a limit: the SDK's own retries are part of a response's time. */
async function without<T>(
  service: "dynamodb" | "states" | "lambda",
  mode: true | "refuse" | "silent",
  work: () => Promise<T>,
): Promise<T> {
  cloud.aws.outage(service, mode);
  try {
    return await work();
  } finally {
    cloud.aws.outage(service, false);
  }
}

const unavailable = (response: {
  status: number;
  error: { code: string } | undefined;
  headers: Readonly<Record<string, string>>;
}) => {
  expect(response.status).toBe(503);
  expect(response.error?.code).toBe("SERVICE_UNAVAILABLE");
  expect(Number(response.headers["retry-after"])).toBeGreaterThan(0);
};

describe.each([true, "refuse", "silent"] as const)("without the database (%s)", (mode) => {
  test("without the database every endpoint returns 503 in the envelope, and those that need no database still work", async () => {
    const responses = await without("dynamodb", mode, () =>
      Promise.all(closedRoutes.map((route) => api.send(route.method, wholePathOf(route), bodyOf(route)))),
    );
    for (const response of responses) unavailable(response);
    const [health, unknown, malformed, login] = await without("dynamodb", mode, () =>
      Promise.all([
        anonymous.get("/health"),
        anonymous.get("/nothing"),
        anonymous.get("/servers", { token: "svc_test_typo" }),
        anonymous.post("/auth/login", { email: me.user.email, password: me.user.password }),
      ]),
    );
    expect([health.status, unknown.status, malformed.status]).toEqual([200, 404, 401]);
    unavailable(login);
    expect((await api.get("/auth/me")).status).toBe(200);
  });
});

test.each([true, "refuse", "silent"] as const)(
  "a log that cannot be read in time is a 503 (%s), and read again later",
  async (mode) => {
    await warmLogs(me);
    const { id } = await me.instance();
    const read = () => api.get(`/instances/${id}/logs?lines=1`);
    const began = performance.now();
    unavailable(await without("lambda", mode, read));
    // Three seconds and what a busy machine adds; other calls would be tried three times.
    expect(performance.now() - began).toBeLessThan(20_000);
    expect((await read()).status).toBe(200);
  },
);

describe("without the workflow engine", () => {
  /** Everything of the account except its credentials' counters: a failed request must not change it. */
  const everything = async () => {
    const reader = (await me.token()).api;
    const lists = await Promise.all(
      ["/servers", "/instances", "/backups", "/operations", "/events"].map(async (path) => {
        const response = await reader.get(`${path}?per_page=100`);
        return {
          total: response.meta?.total,
          data: response
            .as(z.array(z.looseObject({ id: z.string() })))
            .map((record) => ({ ...record, updated_at: undefined, health: undefined })),
        };
      }),
    );
    const { used_server, used_instance } = await getAccount(me.id);
    return { lists, used_server, used_instance };
  };

  const begin: [what: string, prepare: () => Promise<() => ReturnType<Client["get"]>>][] = [
    [
      "creating a server",
      async () => {
        const body = await me.serverBody();
        return () => api.post("/servers", body);
      },
    ],
    [
      "deleting a server",
      async () => {
        const { id } = await seedServer(me.id);
        return () => api.delete(`/servers/${id}`);
      },
    ],
    [
      "creating an instance",
      async () => {
        const body = await me.instanceBody({ server_id: (await seedServer(me.id)).id });
        return () => api.post("/instances", body);
      },
    ],
    ...["stop", "restart", "backup"].map((action): (typeof begin)[number] => [
      `the action ${action}`,
      async () => {
        const { id } = await seedInstance(me.id);
        return () => api.post(`/instances/${id}/actions`, { action });
      },
    ]),
    [
      "moving an instance to a new domain",
      async () => {
        const { id } = await seedInstance(me.id);
        const domain = uniqueDomain();
        return () => api.put(`/instances/${id}`, { domain });
      },
    ],
    [
      "deleting an instance",
      async () => {
        const { id } = await seedInstance(me.id);
        return () => api.delete(`/instances/${id}`);
      },
    ],
    [
      "a backup",
      async () => {
        const { id } = await seedInstance(me.id);
        return () => api.post(`/instances/${id}/backups`);
      },
    ],
    [
      "a restore",
      async () => {
        const { id } = await seedBackup(await seedInstance(me.id));
        return () => api.post(`/backups/${id}/restore`);
      },
    ],
    [
      "a clone",
      async () => {
        const { id, instance_id } = await seedBackup(await seedInstance(me.id));
        const body = { name: "Copy", domain: uniqueDomain(), backup_id: id };
        return () => api.post(`/instances/${instance_id}/clone`, body);
      },
    ],
    [
      "deleting a backup",
      async () => {
        const { id } = await seedBackup(await seedInstance(me.id));
        return () => api.delete(`/backups/${id}`);
      },
    ],
  ];

  test.each([true, "silent"] as const)(
    "without the workflow engine (%s) every start fails and is withdrawn completely while the client waits; a retry succeeds once it is back",
    async (mode) => {
      await setQuota(me.id, "server", 20);
      const requests = await Promise.all(begin.map(async ([what, prepare]) => ({ what, request: await prepare() })));
      const before = await everything();
      const began = Date.now();
      const responses = await without("states", mode, () => Promise.all(requests.map(({ request }) => request())));
      expect(Date.now() - began).toBeLessThan(29_000); // API Gateway's timeout
      for (const response of responses) unavailable(response);
      expect(await everything()).toEqual(before);
      giveUpEarly(cloud);
      for (const { what, request } of requests) expect((await request()).status, what).toBeLessThan(300);
    },
  );

  test("what another request changes while a start fails stays as it is when the work is withdrawn", async () => {
    const before = { name: "Shop", admin_email: "before@example.com", labels: { env: "test" } };
    const { id } = await seedInstance(me.id, before);
    const show = async () => (await api.get(`/instances/${id}`)).as(Instance);
    const [first, second] = await without("states", "silent", async () => {
      const moved = { name: "First", admin_email: "first@example.com", domain: uniqueDomain() };
      const moving = api.put(`/instances/${id}`, moved);
      await expect.poll(async () => (await show()).name, { interval: 50 }).toBe("First");
      return Promise.all([moving, api.put(`/instances/${id}`, { name: "Second", labels: { env: "live" } })]);
    });
    unavailable(first);
    expect(second.status).toBe(200);
    expect(await show()).toMatchObject({ ...before, name: "Second", labels: { env: "live" }, operation_id: null });
    expect((await api.get("/instances?search=second")).as(z.array(z.looseObject({ id: z.string() })))).toMatchObject([{ id }]);
  });

  test("a corrupt backup whose deletion cannot start still does not expire", async () => {
    const corrupt = { kind: "scheduled", state: "failed", status_reason: "The archive is corrupt" } as const;
    const { id } = await seedBackup(await seedInstance(me.id), corrupt);
    unavailable(await without("states", true, () => api.delete(`/backups/${id}`)));
    expect((await api.get(`/backups/${id}`)).as(Backup)).toMatchObject({ status: "failed", expires_at: null });
  });

  test("without the workflow engine every other request still works", async () => {
    const response = await without("states", "refuse", () => api.put("/settings", { backup_retention_days: 3 }));
    expect(response.status).toBe(200);
  });

  test("without the workflow engine an Idempotency-Key is released, so that the same request can be retried", async () => {
    const body = await me.serverBody();
    const ask = () => api.post("/servers", body, { headers: { "idempotency-key": "outage" } });
    unavailable(await without("states", true, ask));
    const response = await ask();
    expect(response.headers).not.toHaveProperty("idempotent-replayed");
    await me.until(response.as(Server).operation_id);
  });
});

describe("a write whose response is lost", () => {
  test("a retry after a lost response finds its own writes, which are no conflict", async () => {
    cloud.aws.loseResponse("TransactWriteItems");
    const response = await api.post("/ssh-keys", { name: "Lost", public_key: newPublicKey() });
    expect(response.status).toBe(201);
    expect((await api.get("/ssh-keys")).meta?.total).toBe(1);
  });

  test("a request whose count was lost is counted once", async () => {
    const [first, second] = [await api.get("/catalog"), await (cloud.aws.loseResponse("UpdateItem"), api.get("/catalog"))];
    const remaining = [first, second].map(({ headers }) => Number(headers["x-ratelimit-remaining"]));
    expect(remaining).toEqual([remaining[0], Number(remaining[0]) - 1]);
  });

  test("a lost response to a unique creation still reports the creation", async () => {
    const key = { pk: "lost", sk: randomUUID() };
    cloud.aws.loseResponse("PutItem");
    expect(await putIfAbsent(key, { owner: me.id })).toBe(true);
    expect(await putIfAbsent(key, { owner: me.id })).toBe(false);
  });

  test("lost responses to starts end consistently: started, or withdrawn completely", async () => {
    const stop = cloud.aws.calls.subscribe(({ action }) => {
      if (action === "StartExecution") cloud.aws.loseResponse(action);
    });
    const body = await me.serverBody();
    const response = await api.post("/servers", body, { headers: { "idempotency-key": "lost" } }).finally(stop);
    await cloud.states.settled();
    const there = (await api.get("/servers")).as(z.array(ListedServer));
    expect([201, 503]).toContain(response.status);
    expect(there.map(({ id, status }) => [id, status])).toEqual(
      response.status === 201 ? [[response.as(Server).id, "active"]] : [],
    );
    expect((await api.post("/servers", body, { headers: { "idempotency-key": "lost" } })).status).toBe(201);
    await cloud.states.settled();
    expect((await api.get("/servers")).meta?.total).toBe(1);
  });

  test("a lost response to the start of an execution starts it once", async () => {
    cloud.aws.loseResponse("StartExecution");
    const server = await api.post("/servers", await me.serverBody());
    expect(server.status).toBe(201);
    await me.until(server.as(Server).operation_id);
  });
});

describe("a retry with the same Idempotency-Key, while the start fails", () => {
  const keyed = { headers: { "idempotency-key": "begun" } };

  /** A creation that is recorded but not started: its start fails, and so does its withdrawal. */
  async function begunOnly(body: Record<string, unknown>): Promise<OperationRecord> {
    const unsubscribe = cloud.aws.calls.subscribe(({ action }) => {
      if (action === "StartExecution") cloud.aws.outage("dynamodb", true);
    });
    try {
      unavailable(await without("states", true, () => api.post("/servers", body, keyed)));
    } finally {
      unsubscribe();
      cloud.aws.outage("dynamodb", false);
    }
    const [newest] = (await me.api.get("/operations")).as(z.array(Operation));
    const operation = await findOperation(me.id, newest?.id ?? "");
    if (operation === undefined) throw new Error("Nothing was begun");
    expect(operation.state).toBe("pending");
    return operation;
  }
  const servers = async () => (await me.api.get("/servers")).as(z.array(ListedServer)).map(({ id }) => id);

  test("a retry fails while the work cannot be started, and starts it itself as soon as possible", async () => {
    const body = await me.serverBody();
    const { id, resource } = await begunOnly(body);
    const early = await without("states", true, () => api.post("/servers", body, keyed));
    expect([early.status, early.error?.code, early.headers["retry-after"]]).toEqual([409, "IDEMPOTENCY_IN_PROGRESS", "1"]);
    const responses = await Promise.all(Array.from({ length: 5 }, () => api.post("/servers", body, keyed)));
    for (const response of responses) {
      expect(response.headers["idempotent-replayed"]).toBe("true");
      expect(response.as(Server).id).toBe(resource.id);
    }
    await me.until(id);
    expect(cloud.states.executions().filter(({ name }) => name === id)).toHaveLength(1);
  });

  test("a retry that got its response prevents the first request from withdrawing the work, even before its first task", async () => {
    const body = await me.serverBody();
    const operation = await begunOnly(body);
    const gate = Promise.withResolvers<void>();
    const back = cloud.states.intercept(async ({ execution }, next) => {
      if (execution === operation.id) await gate.promise;
      return next();
    });
    try {
      expect((await api.post("/servers", body, keyed)).status).toBe(201);
      expect(await withdrawOperation(operation, () => undefined)).toBe(false);
    } finally {
      gate.resolve();
      back();
    }
    await me.until(operation.id);
    expect(await servers()).toEqual([operation.resource.id]);
  });

  test("a retry that read the response before the work was withdrawn fails", async () => {
    const operation = await begunOnly(await me.serverBody());
    expect(await withdrawOperation(operation, () => undefined)).toBe(true);
    await expect(ensureStarted(me.id, operation.id)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    await cloud.states.settled();
    expect(await servers()).toEqual([]);
  });

  test("a retry gets a success only if it is final, whenever the engine recovers", async () => {
    for (let round = 0; round < 4; round++) {
      const body = await me.serverBody();
      const { api: client } = await me.token();
      const headers = { "idempotency-key": `round ${round}` };
      cloud.aws.outage("states", true);
      const tries = Array.from({ length: 12 }, async (_, i) => {
        await new Promise((resolve) => setTimeout(resolve, i * 20));
        if (i === 3 * round) cloud.aws.outage("states", false);
        return client.post("/servers", body, { headers });
      });
      const responses = await Promise.all(tries).finally(() => cloud.aws.outage("states", false));
      await cloud.states.settled();
      const there = await servers();
      for (const response of responses)
        if (response.status === 201) expect(there).toContain(response.as(Server).id);
        else expect(["SERVICE_UNAVAILABLE", "IDEMPOTENCY_IN_PROGRESS"]).toContain(response.error?.code);
      expect((await client.post("/servers", body, { headers })).status).toBe(201);
      await cloud.states.settled();
    }
    expect(await servers()).toHaveLength(4);
  });
});

test("either a first task or a concurrent withdrawal wins, and neither fails", async () => {
  await setQuota(me.id, "server", 100);
  for (let round = 0; round < 20; round++) {
    const { id } = await seedServer(me.id);
    const change = startChange(await getAccount(me.id));
    const operationId = newId("operation");
    const server = await getServer(me.id, id);
    moveServerToDeleting(change, server, operationId);
    const operation = reserveOperation(
      change,
      { operator: "test", requestId: "test" },
      {
        id: operationId,
        type: "server.delete",
        resource: { type: "server", id, name: server.name },
        before: server.state,
      },
    );
    await change.commit();
    const later = async <T>(ms: number, work: () => Promise<T>) => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      return work();
    };
    const [withdrawn, begun] = await Promise.all([
      later(0, () => withdrawOperation(operation, () => undefined)),
      later(round * 4, () =>
        beginOperation(operation, { step: null, step_code: null, progress: 0 }).catch((error: unknown) => {
          if (!(error instanceof ConditionFailed)) throw error;
          return false; // the task retries, and finds no operation
        }),
      ),
    ]);
    expect([withdrawn, begun].filter(Boolean)).toHaveLength(1);
    expect((await getServer(me.id, id)).operation_id).toBe(withdrawn ? null : operationId);
  }
});

test("a request whose writes lose to others until its tries run out reads again, and names the operation that won", async () => {
  giveUpEarly(cloud);
  holdWork(cloud);
  const { id } = await seedInstance(me.id);
  const other = (await me.token()).api;
  let winner: ReturnType<Client["delete"]> | undefined;
  const release = cloud.aws.inject(({ principal, action }) => {
    if (!/instances-?act/i.test(principal) || action !== "TransactWriteItems") return undefined;
    winner ??= other.delete(`/instances/${id}`);
    const CancellationReasons = [{ Code: "TransactionConflict" }];
    return { kind: "error", fault: new AwsFault("TransactionCanceledException", "Contended", 400, { CancellationReasons }) };
  });
  const { status, error } = await api.post(`/instances/${id}/actions`, { action: "stop" }).finally(release);
  const won = (await winner)?.as(Operation);
  expect(status).toBe(409);
  expect(error).toMatchObject({ code: "OPERATION_IN_PROGRESS", details: { operation_id: won?.id } });
});

test("an operation during an outage of the database ends when it is back", async () => {
  const server = await me.server();
  const instance = (await api.post("/instances", await me.instanceBody({ server_id: server.id }))).as(Instance);
  await without("dynamodb", true, () => new Promise((resolve) => setTimeout(resolve, 300)));
  await cloud.events.fire("sweep");
  await cloud.states.settled();
  const current = (await api.get(`/instances/${instance.id}`)).as(Instance);
  expect(["running", "failed"]).toContain(current.status);
  expect(current.operation_id).toBeNull();
  if (current.status === "running")
    expect((await me.backup(instance.id)) satisfies Backup).toMatchObject({ status: "completed" });
});
