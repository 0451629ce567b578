// What the fakes of providers share: a server on loopback that checks its token, and misbehaves on request.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import * as z from "zod";
import { pass } from "./executions.ts";

export interface FakeRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  body: unknown;
}

export interface FakeResponse {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

/** What fails in one request. */
export type Fault =
  /** Nothing is done. */
  | { kind: "rejected"; response: FakeResponse }
  /** The request has no effect and no response; the caller waits this many seconds. */
  | { kind: "dropped"; seconds?: number }
  /** The request takes effect after this many seconds, and there is no response. */
  | { kind: "lost"; seconds?: number }
  /** The request takes effect, and a proxy in front of the provider responds in its place. */
  | { kind: "broken"; response?: FakeResponse }
  /** The request takes effect after this many seconds, and gets its response. */
  | { kind: "slow"; seconds: number }
  /** The request has no effect, and no request will before that time. */
  | { kind: "limited"; seconds: number; header: "retry-after" | "ratelimit-reset" };

/** What a proxy in front of a provider may return in its place, to any request. */
export const NONSENSE: Record<string, FakeResponse> = {
  "a page": { status: 200, body: "<html>Welcome</html>" },
  "a page that says 404": { status: 404, body: "<html>Not Found</html>" },
  "a page that says 403": { status: 403, body: "<html>Blocked</html>" },
  "a way to elsewhere": { status: 307, headers: { location: "http://127.0.0.1:9/elsewhere" } },
  "JSON of another service": { status: 200, body: { items: [] } },
};

/** What happens to a new machine, in seconds from its creation. */
export interface Fate {
  starts: number;
  /** The time at which lists start to show it. */
  listed: number;
  vanishes: number;
  /** How long it still exists after its deletion. */
  lingers: number;
}

export const GOOD_FATE: Fate = { starts: 20, listed: 0, vanishes: Infinity, lingers: 3 };

/** What every fake machine has; times in milliseconds. */
export interface FakeMachine {
  id: number;
  name: string;
  madeAt: number;
  fate: Fate;
  deletedAt: number;
  off: boolean;
  order: { user_data: string };
  /** Listed without a time that can be read. */
  undated?: boolean;
}

/** Whether it exists and therefore costs money. */
export const isThere = ({ madeAt, fate, deletedAt }: FakeMachine): boolean =>
  Date.now() < Math.min(madeAt + fate.vanishes * 1000, deletedAt + fate.lingers * 1000);

export const isListed = (machine: FakeMachine): boolean =>
  isThere(machine) && Date.now() >= machine.madeAt + machine.fate.listed * 1000;

export const hasStarted = ({ madeAt, fate }: FakeMachine): boolean => Date.now() >= madeAt + fate.starts * 1000;

/** One page of a list. */
export function pageOf<T>(
  items: readonly T[],
  query: URLSearchParams,
  perPageMax: number,
): { part: T[]; page: number; last: number } {
  const perPage = Math.min(Number(query.get("per_page") ?? "25"), perPageMax);
  const page = Number(query.get("page") ?? "1");
  return { part: items.slice((page - 1) * perPage, page * perPage), page, last: Math.max(1, Math.ceil(items.length / perPage)) };
}

export interface FakeApi {
  address: string;
  /** Tests change this at will. */
  fault: (request: FakeRequest) => Fault | undefined;
  fate: () => Fate;
  requests: FakeRequest[];
  /** Requests that arrived although the provider had asked us to wait. */
  impatient: number;
  stop: () => Promise<void>;
}

/** A provider's account or project with its API. */
export interface FakeProvider extends FakeApi {
  token: string;
  machines: FakeMachine[];
  /** SSH keys. */
  keys: unknown[];
}

interface Maker {
  token: string;
  /** The base path of the API, after the address. */
  base: string;
  unauthorized: FakeResponse;
  limited: FakeResponse;
  /** How much later than necessary `RateLimit-Reset` says that requests are possible again. */
  resetLaterSeconds: number;
  respond: (request: FakeRequest, fate: () => Fate) => FakeResponse;
}

export async function fakeApi({ token, base, unauthorized, limited, resetLaterSeconds, respond }: Maker): Promise<FakeApi> {
  let closedUntil = 0;

  function responseOf(request: FakeRequest, authorization: string | undefined): FakeResponse | undefined {
    fake.requests.push(request);
    if (authorization !== `Bearer ${token}`) return unauthorized;
    if (Date.now() < closedUntil) {
      fake.impatient += 1;
      return limited;
    }
    const fault = fake.fault(request);
    switch (fault?.kind) {
      case "rejected":
        return fault.response;
      case "dropped":
        pass(fault.seconds ?? 0);
        return undefined;
      case "limited": {
        closedUntil = Date.now() + fault.seconds * 1000;
        const value = fault.header === "retry-after" ? fault.seconds : Math.ceil(closedUntil / 1000) + resetLaterSeconds;
        return { ...limited, headers: { [fault.header]: String(value) } };
      }
      case "lost":
        pass(fault.seconds ?? 0);
        respond(request, fake.fate);
        return undefined;
      case "broken":
        respond(request, fake.fate);
        return fault.response ?? { status: 502, body: "<html>Bad Gateway</html>" };
      case "slow":
        pass(fault.seconds);
        return respond(request, fake.fate);
      case undefined:
        return respond(request, fake.fate);
      default:
        throw new Error(`No such fault: ${JSON.stringify(fault satisfies never)}`);
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://fake");
    const body = await text(request);
    const path = url.pathname.slice(base.length);
    const fakeRequest = {
      method: request.method ?? "GET",
      path,
      query: url.searchParams,
      body: body === "" ? undefined : JSON.parse(body),
    };
    const reply = responseOf(fakeRequest, request.headers.authorization);
    if (reply === undefined) return void request.socket.destroy();
    const sent = typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body);
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers }).end(sent);
  }

  const server = createServer((request, response) => void serve(request, response));
  const fake: FakeApi = {
    address: `http://127.0.0.1:${await listening(server)}${base}`,
    fault: () => undefined,
    fate: () => GOOD_FATE,
    requests: [],
    impatient: 0,
    stop: () =>
      new Promise((stopped) => {
        server.close(() => stopped());
        server.closeAllConnections();
      }),
  };
  return fake;
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return z.object({ port: z.number() }).parse(server.address()).port;
}
