// AWS as the SDKs see it (AWS_ENDPOINT_URL), on 127.0.0.1: checks signatures and IAM permissions as AWS does, so that a missing
// grant fails here and not after deployment; then DynamoDB Local, the local Step Functions, Secrets Manager or S3 responds.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import * as z from "zod";
import { contention } from "../dynamodb/contention.ts";
import { hooks, type Hooks } from "../hooks.ts";
import type { Principal } from "./authorize.ts";
import type { Call } from "./calls.ts";
import { serve, type Endpoint, type Reply } from "./serve.ts";
import type { Cors } from "../s3/cors.ts";
import { listKnown, type Services } from "./services.ts";
import { HOUR_MS } from "../../../shared/domain/durations.ts";

export type { Principal } from "./authorize.ts";

/** Whatever intercepts a call has it before its signature and permissions are checked. */
export interface Aws extends Pick<Hooks<Call, Reply>, "intercept"> {
  url: string;
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

const NO_CORS: Cors = { rules: new Map(), origins: () => [] };

export async function startAws({
  principals,
  services,
  log = () => undefined,
  cors = NO_CORS,
  transactionMilliseconds,
  port: requestedPort = 0,
}: AwsOptions): Promise<Aws> {
  const { intercept, run } = hooks<Call, Reply>();
  const endpoint: Endpoint = {
    principals,
    services,
    cors,
    resources: listKnown(services),
    run,
    log,
  };
  if (transactionMilliseconds !== undefined) intercept(contention(transactionMilliseconds));
  const server = createServer((request, response) => {
    serve(endpoint, request, response).catch((error: unknown) => {
      log(`The local AWS broke off a response: ${String(error)}`);
      request.socket.destroy();
    });
  });
  server.requestTimeout = 0; // a backup may take longer to arrive than Node's 5 minutes
  server.keepAliveTimeout = HOUR_MS; // the SDKs keep connections open; if we closed one in that moment, a call would fail
  await listen(server, requestedPort).catch(() => listen(server, 0));
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    intercept,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
