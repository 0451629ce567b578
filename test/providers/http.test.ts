// Calls to a provider's API, against a server that misbehaves on the wire: every call ends soon and with little memory.
import { createServer, type RequestListener } from "node:http";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import * as z from "zod";
import { api, type Ask, RetryLater, UNKNOWN } from "../../shared/providers/http.ts";
import { TryAgain } from "../../shared/platform/task-errors.ts";

let listener: RequestListener;
let heard: string[];
let address: string;
let stop: () => void;
beforeEach(async () => {
  heard = [];
  const server = createServer((request, response) => {
    heard.push(`${request.method} ${request.headers.authorization}`);
    listener(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  address = `http://127.0.0.1:${z.object({ port: z.number() }).parse(server.address()).port}`;
  stop = () => {
    server.close();
    server.closeAllConnections();
  };
  const seconds = AbortSignal.timeout.bind(AbortSignal);
  vi.spyOn(AbortSignal, "timeout").mockImplementation((milliseconds) => seconds(milliseconds / 30));
});
afterEach(() => {
  stop();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const Problem = z.object({ code: z.string(), message: z.string() });
const asking = (): Ask =>
  api({
    name: "Provider",
    address,
    token: "secret-token",
    errorIn: (body) => Problem.safeParse(body).data ?? { code: UNKNOWN, message: "" },
    meaning: () => undefined,
  });
const call = { method: "POST", path: "/servers", body: { name: "erp" }, schema: z.object({ id: z.number() }) } as const;
const errorOf = async (response: Promise<unknown>): Promise<unknown> =>
  response.then(
    (value) => ({ responded: value }),
    (error: unknown) => error,
  );
const unclear = (error: unknown): boolean => error instanceof TryAgain && !(error instanceof RetryLater);

const json = { "content-type": "application/json" };
test.each<[string, RequestListener]>([
  ["accepts the request and never responds", () => undefined],
  ["starts a response and never continues it", (_, response) => void response.writeHead(201, json).write('{"id":')],
  ["sends an endless response slowly", (_, response) => void setInterval(() => response.write(" "), 5).unref()],
  ["sends a response that is too large", (_, response) => flood(response)],
  ["redirects to another address", (_, response) => void response.writeHead(307, { location: `${address}/elsewhere` }).end()],
  ["closes the connection", (request) => void request.socket.destroy()],
  ["does not speak HTTP", (request) => void request.socket.end("SSH-2.0-OpenSSH\r\n")],
  ["returns a web page", (_, response) => void response.writeHead(200).end("<html></html>")],
  ["returns a web page with 404", (_, response) => void response.writeHead(404).end("<html></html>")],
  ["returns a web page with 403", (_, response) => void response.writeHead(403).end("<html></html>")],
  ["returns no ID", (_, response) => void response.writeHead(201, json).end("{}")],
])(
  "it is unclear whether an order took effect if the provider %s, and only the provider gets the token",
  async (_, misbehaves) => {
    listener = misbehaves;
    const error = await errorOf(asking()(call));
    expect(error).toSatisfy(unclear);
    expect(String(error)).not.toContain("secret-token");
    expect(heard).toEqual(["POST Bearer secret-token"]);
  },
);

function flood(response: Parameters<RequestListener>[1]): void {
  const more = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(1024 * 1024, 32)));
    if (!response.destroyed) response.once("drain", more);
  };
  response.writeHead(200, json);
  more();
}

test("only the provider's own 404 means that something does not exist", async () => {
  listener = (_, response) => void response.writeHead(404, json).end('{"code":"not_found","message":"No such server"}');
  const { schema, path } = call;
  for (const method of ["GET", "DELETE"] as const) expect(await asking()({ method, path, schema })).toBeUndefined();
  expect(await errorOf(asking()(call))).toMatchObject({
    code: "PROVIDER_ERROR",
    message: expect.stringMatching(/Provider does not have the requested resource\. Provider says: No such server$/),
  });
});

test("a provider that limits requests is quoted until the pause is over", async () => {
  const ask = asking();
  listener = (_, response) => void response.writeHead(429, json).end('{"code":"limited","message":"3600 an hour."}');
  for (let times = 0; times < 2; times++)
    expect(await errorOf(ask(call))).toMatchObject({ message: expect.stringMatching(/minutes\. Provider says: 3600 an hour$/) });
  expect(heard).toHaveLength(1);
});

test.each(["999999999", "0", "Fri, 31 Dec 2100 23:59:59 GMT", "-1", "soon"])(
  "a provider that asks to wait until %j is asked again within an hour",
  async (value) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const ask = asking();
    listener = (_, response) => void response.writeHead(429, { "retry-after": value }).end();
    expect(await errorOf(ask(call))).toBeInstanceOf(RetryLater);
    vi.setSystemTime(Date.now() + 3_600_000);
    listener = (_, response) => void response.writeHead(201, json).end('{"id":7}');
    expect(await ask(call)).toEqual({ id: 7 });
  },
);
