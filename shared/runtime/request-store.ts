// What one request reads and writes: a change is stored with its response, for replays, or only rehearsed, for a dry run.
import type { APIGatewayProxyEvent } from "aws-lambda";
import type { DryRun, Forecast } from "../api/dry-run.ts";
import type { Endpoint } from "../api/endpoint.ts";
import { ApiError, ERRORS } from "../api/errors.ts";
import { type Change, operationIn } from "../data/change.ts";
import { read, readWith, type Records, type Ref } from "../data/table.ts";
import { isDryRun } from "../domain/dry-run.ts";
import type { By } from "../records/events.ts";
import {
  removeStoredRequest,
  idempotentRequest,
  inProgress,
  storeResponse,
  storedRequestRef,
  readStoredResponse,
  reserveKey,
  type StoredResponse,
  type Work,
} from "./idempotency.ts";
import { header } from "./request-context.ts";
import { buildLocation, type Shape } from "./responses.ts";

export type Read = <const R extends Record<string, Ref<unknown>>>(refs: R, work?: Work) => Promise<Records<R>>;

/** What the change would do, worked out only for a dry run. */
export type Forecasting = () => Forecast | Promise<Forecast>;

interface RequestStore {
  /** Throws `AlreadyDone` for a repeated request. */
  read: Read;
  /** Returns the response's data, of a dry run the forecast. */
  commit: (change: Change, data: unknown, forecast?: Forecasting) => Promise<unknown>;
  /** The forecast of the dry run that this request was. */
  rehearsed: () => DryRun;
  /**
   * Whether the change met other writes of the same records until its tries ran out, so that whether it is possible is unknown.
   * An outage, if it happens again.
   */
  lostTo: (error: unknown) => boolean;
  /**
   * The error of a request that met the effects of another one with its key, which began later than it read the stored response.
   */
  overtaken: (error: unknown) => Promise<Error | undefined>;
}

/** Leaves a handler at its first read: the response is stored, and nothing that follows may happen again. */
export class AlreadyDone extends Error {
  override name = "AlreadyDone";
  readonly response: StoredResponse;
  constructor(response: StoredResponse) {
    super("This request already has a stored response");
    this.response = response;
  }
}

/** DynamoDB's name for a transaction that other writes of its items have prevented. */
const CONTENDED = "TransactionCanceledException";

export function openStore(
  endpoint: Endpoint,
  { shape, by, event, body }: { shape: Shape; by: By; event: APIGatewayProxyEvent; body: unknown },
): RequestStore {
  const dry = isDryRun(endpoint, event.queryStringParameters);
  const key = endpoint.idempotent && !dry ? header(event.headers, "idempotency-key") : undefined;
  const request =
    key === undefined ? undefined : idempotentRequest(key, by.caller, { method: event.httpMethod, path: pathOf(event), body });
  let work: Work | undefined;
  let rehearsed: DryRun | undefined;
  let contention: Error | undefined;
  return {
    read: async (refs, starting) => {
      work ??= starting;
      if (request === undefined) return read(refs);
      const [records, storedRequest] = await readWith(refs, storedRequestRef(request));
      const response = await readStoredResponse(request, storedRequest, work?.resume);
      if (response !== undefined) throw new AlreadyDone(response);
      return records;
    },
    commit: async (change, data, forecast) => {
      if (dry) {
        if (forecast === undefined) throw new Error(`Nothing says what a dry run of ${endpoint.path} would do`);
        await change.rehearse();
        rehearsed = { dry_run: true, allowed: true, ...(await forecast()) };
        return rehearsed;
      }
      const response = { status: endpoint.status, location: buildLocation(endpoint, data), data: shape(data) };
      if (operationIn(change) !== undefined && work === undefined) throw new Error("Start operations with `beginWork`");
      if (request !== undefined)
        await (endpoint.storesResponse ? storeResponse(change, request, response) : reserveKey(change, request));
      await change.commit().catch((error: unknown) => {
        if (error instanceof Error && error.name === CONTENDED) contention = error;
        throw error;
      });
      await work?.start(change, (withdrawal) => request !== undefined && removeStoredRequest(withdrawal, request));
      return data;
    },
    rehearsed: () => {
      if (rehearsed === undefined) throw new Error("A dry run must end with `commit`");
      return rehearsed;
    },
    lostTo: (error) => error === contention,
    overtaken: async (error) => {
      const isConflict = error instanceof ApiError && ERRORS[error.code].status === 409;
      return isConflict && request !== undefined ? inProgress(request) : undefined;
    },
  };
}

/** With a slash at its end, a path means the same resource. */
const pathOf = ({ path }: APIGatewayProxyEvent): string => path.replace(/\/$/, "");
