// The gateway's HTTP server on 127.0.0.1: it rejects what is not HTTP, and a stop waits for the requests in progress.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { LocalError } from "../errors.ts";

const HEADERS_LIMIT_BYTES = 10_240;
// How long requests in progress may take after the stop.
const GRACE_MILLISECONDS = 2000;

interface Options {
  port: number;
  serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  log: (line: string) => void;
}

export async function startServer({
  port: requestedPort,
  serve,
  log,
}: Options): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = createServer({ maxHeaderSize: HEADERS_LIMIT_BYTES, keepAliveTimeout: 65_000 }, (request, response) => {
    request.on("error", () => undefined);
    response.on("error", () => undefined);
    serve(request, response).catch((error: unknown) => {
      if (!request.destroyed) log(`gateway: ${String(request.url)}: ${String(error)}`);
      response.destroy();
    });
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    socket.on("error", () => undefined);
    const status = error.code === "HPE_HEADER_OVERFLOW" ? "431 Request Header Fields Too Large" : "400 Bad Request";
    if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    else socket.destroy();
  });
  await listen(server, requestedPort);
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : requestedPort;
  return { url: `http://127.0.0.1:${port}`, stop: () => stop(server) };
}

const listen = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(error.code === "EADDRINUSE" ? new LocalError(`Port ${port} is taken: stop what uses it, or choose another`) : error),
    );
    server.listen(port, "127.0.0.1", resolve);
  });

async function stop(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), GRACE_MILLISECONDS);
  await closed;
  clearTimeout(timer);
}
