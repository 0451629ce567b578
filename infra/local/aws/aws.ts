// AWS as the SDKs see it (AWS_ENDPOINT_URL), on 127.0.0.1: checks signatures and IAM permissions as AWS does, so that a missing grant fails
// here and not after deployment; then DynamoDB Local, the local Step Functions, Secrets Manager or S3 responds.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import * as z from "zod";
import { contention, noContention } from "../dynamodb/contention.ts";
import { holdIndexes, type HeldIndexes } from "../dynamodb/held-indexes.ts";
import type { Principal } from "./authorize.ts";
import { callLog, type Calls, type Service } from "./calls.ts";
import { serve, type Arriving, type Endpoint, type Fault, type Outage } from "./serve.ts";
import type { Cors } from "../s3/cors.ts";
import { listKnown, type Services } from "./services.ts";

export type { Principal } from "./authorize.ts";
export type { Call } from "./calls.ts";
export type { Arriving, Fault } from "./serve.ts";

export interface Aws {
  url: string;
  calls: Pick<Calls, "list" | "clear" | "subscribe">;
  outage: (service: Service, mode: Outage) => void;
  /** Asked about every call from now on, until the returned function is called: the fault that the call has. */
  inject: (toFault: (call: Arriving) => Fault | undefined) => () => void;
  /** The next call of the action takes effect, and its response is lost. */
  loseResponse: (action: string) => void;
  /** Queries of the tables' indexes see no write from now on, until the returned function is called: AWS's indexes lag. */
  holdIndexes: () => Promise<() => Promise<void>>;
  stop: () => Promise<void>;
}

interface AwsOptions {
  principals: (accessKeyId: string) => Principal | undefined;
  services: Services;
  log?: ((line: string) => void) | undefined;
  cors?: Cors;
  /** How long a transaction keeps others from its items; without it no time, as in DynamoDB Local. */
  transactionMilliseconds?: number | undefined;
  /** The port to listen on, if it is free: presigned URLs contain it, and must be valid after a restart too. */
  port?: number | undefined;
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening"); // rejects when the server cannot listen
}

const NO_CORS: Cors = { rules: new Map(), origin: () => undefined };

export async function startAws({
  principals,
  services,
  log = () => undefined,
  cors = NO_CORS,
  transactionMilliseconds,
  port: wanted = 0,
}: AwsOptions): Promise<Aws> {
  const outages = new Map<Service, Outage>();
  const lost = new Set<string>();
  const injected = new Set<(call: Arriving) => Fault | undefined>();
  const { record, ...calls } = callLog();
  let held: HeldIndexes | undefined;
  const endpoint: Endpoint = {
    principals,
    services,
    cors,
    known: listKnown(services),
    toFault: (call) => [...injected].reduce<Fault | undefined>((fault, each) => fault ?? each(call), undefined),
    outageOf: (service) => outages.get(service) ?? false,
    contention: transactionMilliseconds === undefined ? noContention : contention(transactionMilliseconds),
    redirected: (action, input) => held?.redirect(action, input) ?? input,
    record,
    loses: (action) => lost.delete(action),
    log,
  };
  const server = createServer((request, response) => {
    serve(endpoint, request, response).catch((error: unknown) => {
      log(`The local AWS broke off a response: ${String(error)}`);
      request.socket.destroy();
    });
  });
  server.requestTimeout = 0; // a backup may take longer to arrive than Node's 5 minutes
  server.keepAliveTimeout = 3_600_000; // the SDKs keep connections open; if we closed one in that moment, a call would fail
  await listen(server, wanted).catch(() => listen(server, 0));
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    outage: (service, mode) => void outages.set(service, mode),
    inject: (toFault) => {
      injected.add(toFault);
      return () => void injected.delete(toFault);
    },
    loseResponse: (action) => void lost.add(action),
    holdIndexes: async () => {
      const copy = await holdIndexes(services.database);
      held = copy;
      return async () => {
        held = undefined;
        await copy.remove();
      };
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
