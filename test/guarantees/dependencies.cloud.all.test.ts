// Every call of a dependency, for every endpoint and every workflow, with every fault: the response is in the envelope, in time
// and can be retried, and nothing is left half done.
import { expect } from "vitest";
import type { Arriving, Fault } from "../harness/aws.ts";
import { AwsFault } from "../../infra/local/errors.ts";
import { findOperation } from "../../shared/records/operations.ts";
import { processCloud } from "../harness/cloud.ts";
import { giveUpEarlyFrom } from "../harness/held-work.ts";
import type { Client } from "../harness/client.ts";
import { sweepAll } from "../workflows/repair.ts";
import { expectCounts, expectEntries, expectFree, expectMarkers, snapshotOf } from "../workflows/snapshot.ts";
import { guarantees } from "./guarantees.ts";
import { prove } from "./prove.ts";
import type { Random } from "./random.ts";
import { type Kind, kinds, newWorld, recordsOf, requestOf, send, type World, worldFor } from "./world.ts";
import { startsOf } from "../workflows/harness.ts";
import { expectAtRest, leaseOf, workflowRows } from "./workflow-attack.ts";

/** API Gateway gives up after this. */
const LIMIT_MS = 29_000;

const thrown = (code: string, status = 400, details = {}): Fault => ({
  kind: "error",
  fault: new AwsFault(code, "As the attack wants it", status, details),
});

/** DynamoDB Local never has one. */
const transactionConflict = (action: string): Fault =>
  action === "TransactWriteItems"
    ? thrown("TransactionCanceledException", 400, { CancellationReasons: [{ Code: "TransactionConflict" }] })
    : thrown("TransactionConflictException");

/** How a call of a service goes wrong; the errors have the names that the service uses. */
const FAULTS: Record<string, (call: Arriving) => Fault> = {
  disconnected: () => ({ kind: "refuse" }),
  silent: () => ({ kind: "silent" }),
  slow: () => ({ kind: "slow", milliseconds: 700 }),
  throttled: ({ service }) =>
    thrown(
      service === "s3" ? "SlowDown" : service === "dynamodb" ? "ProvisionedThroughputExceededException" : "ThrottlingException",
      service === "s3" ? 503 : 400,
    ),
  conflict: ({ service, action }) => (service === "dynamodb" ? transactionConflict(action) : thrown("ServiceUnavailable", 503)),
  "transaction in progress": ({ service }) =>
    service === "dynamodb" ? thrown("TransactionInProgressException") : thrown("TooManyRequestsException", 429),
  "5xx": ({ service }) => thrown(service === "dynamodb" ? "InternalServerError" : "InternalError", 500),
  "response lost": () => ({ kind: "lost" }),
  "delivered twice": () => ({ kind: "twice" }),
};
const HOW_OFTEN: Record<string, number> = { once: 1, "for a while": 6 };
/** Which of an endpoint's calls fail: one, or one and all that follow, against which retries do not help. */
const HOW_LONG: Record<string, number> = { once: 1, "from then on": Infinity };
const LAGGING = "indexes that lag";

/** More than any endpoint makes with its authorizer. */
const CALLS_MAX = 14;
const SERVICES = ["dynamodb", "states", "s3", "secretsmanager"] as const;

const ofRoutes = kinds.flatMap((kind) =>
  Object.keys(FAULTS).flatMap((fault) =>
    Object.entries(HOW_LONG).flatMap(([long, length]) =>
      Array.from({ length: CALLS_MAX }, (_, call) => ({
        label: `${kind.label}, call ${call + 1}: ${fault} ${long}`,
        kind,
        fault,
        call,
        length,
      })),
    ),
  ),
);
const ofWorkflows = workflowRows.flatMap((row) =>
  SERVICES.flatMap((service) =>
    Object.keys(FAULTS).flatMap((fault) =>
      Object.keys(HOW_OFTEN).map((often) => ({
        label: `${row.name}, ${service}: ${fault} ${often}`,
        row,
        service,
        fault,
        often,
      })),
    ),
  ),
);
const ofIndexes = kinds.filter(({ route }) => route.list).map((kind) => ({ label: `${kind.label}: ${LAGGING}`, kind }));
const routePoints = new Map(ofRoutes.map((point) => [point.label, point]));
const workflowPoints = new Map(ofWorkflows.map((point) => [point.label, point]));

const isEndpoint = ({ principal }: Pick<Arriving, "principal">): boolean => /-(api|authorize)/i.test(principal);
const isTask = ({ principal }: Pick<Arriving, "principal">): boolean => /tasks/i.test(principal);

prove("dependencies", async () => {
  const cloud = await processCloud();
  const lease = leaseOf(cloud);
  /** How many calls a plain request of a kind makes, with its authorizer. */
  const callsOfKinds = new Map<string, number>();
  /** How many calls of each service a workflow's tasks make. */
  const callsOfWorkflows = new Map<string, Record<string, number>>();

  const clientFor = async ({ me }: World, access: unknown): Promise<Client> =>
    access === "session" ? me.session(await me.anotherUser()) : (await me.token()).api;

  /** Faults of chosen calls; returns how many there were, and stops. */
  function inject(matches: (call: Arriving) => boolean, fault: string): { stop: () => number } {
    let injected = 0;
    const stop = cloud.aws.inject((call) => {
      if (!matches(call)) return undefined;
      injected += 1;
      return FAULTS[fault]?.(call);
    });
    return {
      stop: () => {
        stop();
        return injected;
      },
    };
  }

  /** What requests begin gives up at its first step and is undone. */
  async function givingUp<T>(work: () => Promise<T>): Promise<T> {
    const release = giveUpEarlyFrom(cloud, { undoes: true });
    try {
      return await work();
    } finally {
      await cloud.states.settled();
      release();
    }
  }

  async function callsOf(kind: Kind): Promise<number> {
    const cached = callsOfKinds.get(kind.label);
    if (cached !== undefined) return cached;
    const world = await worldFor(kind);
    const [request, api] = [await requestOf(kind, world), await clientFor(world, kind.route.access)];
    let calls = 0;
    const stop = cloud.aws.inject((call) => void (calls += isEndpoint(call) ? 1 : 0));
    await givingUp(() => send(api, request));
    stop();
    expect(calls, `calls of ${kind.label}`).toBeLessThanOrEqual(CALLS_MAX);
    callsOfKinds.set(kind.label, calls);
    return calls;
  }

  async function attackRoute({ kind, fault, call, length }: (typeof ofRoutes)[number]): Promise<number> {
    if (call >= (await callsOf(kind))) return 0;
    const world = await worldFor(kind);
    const { me } = world;
    const request = await requestOf(kind, world);
    const api = await clientFor(world, kind.route.access);
    const before = await recordsOf(me.id);
    const headers = kind.route.idempotent ? { "idempotency-key": "dependency" } : {};
    let calls = 0;
    // The authorizer's calls and the function's own, in their order.
    const faults = inject((each) => {
      if (!isEndpoint(each)) return false;
      calls += 1;
      return calls > call && calls <= call + length;
    }, fault);
    const began = performance.now();
    const response = await send(api, request, headers).finally(faults.stop);
    const took = performance.now() - began;
    const injected = faults.stop();
    expect(took, "how long the response took").toBeLessThan(LIMIT_MS);
    // What cannot be told apart from a failure that stays is a conflict or a 503; both can be retried.
    if (response.status >= 500) {
      expect(response.error?.code).toBe("SERVICE_UNAVAILABLE");
      expect(Number(response.headers["retry-after"])).toBeGreaterThan(0);
    }
    await cloud.states.settled();
    await sweepAll(cloud, me.id);
    if (response.status >= 500 && kind.route.method !== "GET" && kind.route.starts.length > 0) {
      // Withdrawn completely, or begun and ended: an open operation, or a resource without one, would be half done.
      const after = await recordsOf(me.id);
      if (after["operation"] === before["operation"]) expect(after, "a withdrawn request has left something").toEqual(before);
    }
    const again = await send(api, request, headers);
    expect(again.status, `a retry of ${kind.label}: ${again.text}`).toBeLessThan(500);
    // With its key, a retry of what failed succeeds: nothing of the failure is in its way.
    if (response.status >= 500 && kind.route.idempotent) expect(again.status, again.text).toBeLessThan(300);
    await cloud.states.settled();
    const snapshot = await snapshotOf(cloud, me.id);
    for (const hold of [expectFree, expectMarkers, expectCounts, expectEntries]) hold(snapshot);
    return injected;
  }

  async function callsOfTasks(row: (typeof workflowRows)[number]): Promise<Record<string, number>> {
    const cached = callsOfWorkflows.get(row.name);
    if (cached !== undefined) return cached;
    const calls: Record<string, number> = {};
    await lease.use(async (harness) => {
      const ask = await harness.prepare(row.workflow, startsOf(row)[0]);
      const stop = cloud.aws.inject((call) => {
        if (isTask(call)) calls[call.service] = (calls[call.service] ?? 0) + 1;
        return undefined;
      });
      expect((await harness.run(row.workflow, ask)).operation.state).toBe("succeeded");
      stop();
    });
    callsOfWorkflows.set(row.name, calls);
    return calls;
  }

  async function attackWorkflow({ row, service, fault, often }: (typeof ofWorkflows)[number], random: Random): Promise<number> {
    const most = (await callsOfTasks(row))[service] ?? 0;
    if (most === 0) return 0;
    const skip = random.below(most);
    return lease.use(async (harness) => {
      const [from] = startsOf(row);
      const ask = await harness.prepare(row.workflow, from);
      let calls = 0;
      const length = HOW_OFTEN[often] ?? 1;
      const faults = inject((call) => {
        if (call.service !== service || !isTask(call)) return false;
        calls += 1;
        return calls > skip && calls <= skip + length;
      }, fault);
      const { operation } = await harness.run(row.workflow, ask).finally(faults.stop);
      const injected = faults.stop();
      await expectAtRest(row, harness, operation, from, findOperation);
      return injected;
    });
  }

  async function attackIndexes(label: string): Promise<void> {
    const kind = ofIndexes.find((each) => each.label === label)?.kind ?? expect.fail(`There is no point ${label}`);
    const { me } = await newWorld();
    const release = await cloud.aws.holdIndexes();
    const { id } = await me.sshKey();
    const created = await (await me.token()).api.post("/servers", await me.serverBody());
    expect(created.status).toBe(201);
    const request = await requestOf(kind, { me, ids: { ssh_key: id } });
    const listed = await send(await clientFor({ me, ids: {} }, kind.route.access), request);
    expect(listed.status, listed.text).toBeLessThan(500);
    await cloud.states.settled();
    await release();
    const caughtUp = await send(await clientFor({ me, ids: {} }, kind.route.access), request);
    expect(caughtUp.status).toBeLessThan(500);
  }

  const points = [...routePoints.keys(), ...workflowPoints.keys(), ...ofIndexes.map(({ label }) => label)];
  return {
    points,
    finish: ({ trials }) => {
      if (trials >= guarantees.dependencies.full)
        expect(trials, "fewer trials than points").toBeGreaterThanOrEqual(points.length);
    },
    close: lease.close,
    trial: async ({ point, random, counts }) => {
      const [route, workflow] = [routePoints.get(point), workflowPoints.get(point)];
      if (route !== undefined) counts(Math.min(1, await givingUp(() => attackRoute(route))));
      else if (workflow !== undefined) counts(Math.min(1, await attackWorkflow(workflow, random)));
      else await attackIndexes(point);
    },
  };
});
