// What a test does with the calls of the local AWS: counts them, loses them, lets a service be down, or an index lag.
import { setTimeout as sleep } from "node:timers/promises";
import type { Aws } from "../../infra/local/aws/aws.ts";
import type { Call, Service } from "../../infra/local/aws/calls.ts";
import type { Database } from "../../infra/local/dynamodb/dynamodb.ts";
import { AwsFault } from "../../infra/local/errors.ts";
import { holdIndexes, type HeldIndexes } from "./held-indexes.ts";

/** "refuse" breaks the connection, "silent" accepts it and never responds, true responds like a service that is down. */
type Outage = boolean | "refuse" | "silent";

/** What goes wrong with one call. */
export type Fault =
  | { kind: "refuse" | "silent" }
  /** It waits, and then takes effect as usual. */
  | { kind: "slow"; milliseconds: number }
  /** It has no effect, and the caller gets this error. */
  | { kind: "error"; fault: AwsFault }
  /** It takes effect, and the response is lost. */
  | { kind: "lost" }
  /** It takes effect, and a second time, as if the network had duplicated it. */
  | { kind: "twice" };

/** What is known of a call before it is served. */
export type Arriving = Pick<Call, "service" | "action" | "principal">;

/** A call with its result. */
export type Served = Omit<Call, "requestId" | "input" | "forwarded"> & { status: number };

export interface Faults {
  calls: {
    list: () => readonly Served[];
    clear: () => void;
    subscribe: (listener: (call: Served) => void) => () => void;
  };
  outage: (service: Service, mode: Outage) => void;
  /** Asked about every call from now on, until the returned function is called: the fault that the call has. */
  inject: (toFault: (call: Arriving) => Fault | undefined) => () => void;
  /** The next call of the action takes effect, and its response is lost. */
  loseResponse: (action: string) => void;
  /** Queries of the tables' indexes see no write from now on, until the returned function is called: AWS's indexes lag. */
  holdIndexes: () => Promise<() => Promise<void>>;
}

const CALLS_KEPT = 10_000;

export function faultsIn({ intercept }: Pick<Aws, "intercept">, database: Database): Faults {
  const listeners = new Set<(call: Served) => void>();
  let calls: Served[] = [];
  const record = ({ principal, service, action, attempt, actions, resources, error, capacity }: Call, status: number): void => {
    // The input is left out, because it may be large.
    const served = { principal, service, action, attempt, actions, resources, error, capacity, status };
    calls.push(served);
    if (calls.length > CALLS_KEPT) calls = calls.slice(-CALLS_KEPT / 2);
    for (const listener of listeners) listener(served);
  };
  const outages = new Map<Service, Outage>();
  const lost = new Set<string>();
  const injected = new Set<(call: Arriving) => Fault | undefined>();
  let heldIndexes: HeldIndexes | undefined;

  intercept(async (call, next) => {
    const { service, action } = call;
    const fault =
      faultOf(service, outages.get(service) ?? false) ??
      [...injected].reduce<Fault | undefined>((found, each) => found ?? each(call), undefined);
    if (fault?.kind === "refuse") return undefined;
    if (fault?.kind === "silent") return new Promise(() => undefined);
    if (fault?.kind === "slow") await sleep(fault.milliseconds);
    if (heldIndexes !== undefined && service === "dynamodb") call.forwarded = heldIndexes.redirect(action, await call.input());
    try {
      if (fault?.kind === "error") throw fault.fault;
      const reply = await next();
      if (fault?.kind === "twice" && service !== "s3") await next(); // the caller only sees the first
      record(call, reply?.status ?? 0); // before the response is sent, so that its recipient finds the call
      return fault?.kind === "lost" || lost.delete(call.action) ? undefined : reply;
    } catch (error) {
      if (error instanceof AwsFault) record({ ...call, error: error.name }, error.status);
      throw error;
    }
  });

  return {
    calls: {
      list: () => calls,
      clear: () => void (calls = []),
      subscribe: (listener) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    outage: (service, mode) => void outages.set(service, mode),
    inject: (toFault) => {
      injected.add(toFault);
      return () => void injected.delete(toFault);
    },
    loseResponse: (action) => void lost.add(action),
    holdIndexes: async () => {
      const copy = await holdIndexes(database);
      heldIndexes = copy;
      return async () => {
        heldIndexes = undefined;
        await copy.remove();
      };
    },
  };
}

function faultOf(service: Service, outage: Outage): Fault | undefined {
  if (outage === false) return undefined;
  return outage === true ? { kind: "error", fault: unavailable(service) } : { kind: outage };
}

function unavailable(service: Service): AwsFault {
  if (service === "dynamodb") return new AwsFault("InternalServerError", "The service is down, as the test asked", 500);
  return new AwsFault(
    service === "s3" ? "ServiceUnavailable" : "ServiceUnavailableException",
    "The service is down, as the test asked",
    503,
  );
}
