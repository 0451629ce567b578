// The guard of requests to addresses that customers choose: every form of address, names that change, and receivers of every bad
// kind.
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTcpServer, type Server } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import * as z from "zod";
import {
  isPublicAddress,
  OutboundError,
  request,
  findTargetProblem,
  findUrlProblem,
  type Resolve,
} from "../../shared/platform/outbound.ts";

const NO_LOOPBACK = { loopback: false };
const servers: { close: () => unknown }[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

async function portOf(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return z.object({ port: z.number() }).parse(server.address()).port;
}
const serve = (respond: RequestListener): Promise<number> => portOf(createServer(respond));

const send = (
  url: string,
  { timeoutMs = 2_000, loopback = true, resolve }: { timeoutMs?: number; loopback?: boolean; resolve?: Resolve } = {},
) =>
  request(
    { url, headers: { "content-type": "text/plain" }, body: Buffer.from("hello"), timeoutMs, keepBytes: 4_096 },
    { loopback, ...(resolve && { resolve }) },
  );

describe("an address is public only if it belongs to the internet", () => {
  test.each([
    ["93.184.216.34", true],
    ["2606:2800:220:1:248:1893:25c8:1946", true],
    ["::ffff:93.184.216.34", true],
    ["127.0.0.1", false],
    ["127.255.255.254", false],
    ["0.0.0.0", false],
    ["10.0.0.1", false],
    ["172.16.0.1", false],
    ["172.31.255.255", false],
    ["192.168.1.1", false],
    ["169.254.169.254", false],
    ["168.63.129.16", false],
    ["::ffff:168.63.129.16", false],
    ["168.63.129.17", true],
    ["100.64.0.1", false], // CGNAT
    ["100.100.100.200", false],
    ["192.0.0.8", false],
    ["192.0.2.1", false],
    ["198.18.0.1", false],
    ["198.51.100.7", false],
    ["203.0.113.7", false],
    ["224.0.0.1", false],
    ["240.0.0.1", false],
    ["255.255.255.255", false],
    ["::", false],
    ["::1", false],
    ["::7f00:1", false], // IPv4-compatible
    ["::ffff:127.0.0.1", false],
    ["::ffff:169.254.169.254", false],
    ["64:ff9b::7f00:1", false], // NAT64
    ["64:ff9b:1::7f00:1", false],
    ["2002:7f00:1::", false], // 6to4
    ["2001:0:4136:e378:8000:63bf:3fff:fdd2", false], // Teredo
    ["2001:db8::1", false],
    ["fc00::1", false],
    ["fd00:ec2::254", false],
    ["fe80::1", false],
    ["fe80::1%eth0", false],
    ["fec0::1", false],
    ["ff02::1", false],
    ["not an address", false],
  ])("%s: %s", (address, expected) => {
    expect(isPublicAddress(address)).toBe(expected);
  });
});

describe("a URL is refused", () => {
  test.each([
    ["https://example.com/hook", undefined],
    ["https://example.com:8443/hook", undefined],
    ["http://example.com/hook", "must be https"],
    ["ftp://example.com", "must be https"],
    ["javascript:alert(1)", "must be https"],
    ["nonsense", "must be https"],
    ["https://example.com:22/", "must use port 443 or 8443"],
    ["https://user:secret@example.com/", "must not contain a user name or password"],
    ["https://user@example.com/", "must not contain a user name or password"],
    ["https://localhost/", "must not lead to a private address"],
    ["https://printer/", "must not lead to a private address"],
    ["https://metadata.google.internal/", "must not lead to a private address"],
    ["https://db.local/", "must not lead to a private address"],
    ["https://127.0.0.1/", "must not lead to a private address"],
    ["https://2130706433/", "must not lead to a private address"],
    ["https://0x7f.1/", "must not lead to a private address"],
    ["https://0177.0.0.1/", "must not lead to a private address"],
    ["https://127.1/", "must not lead to a private address"],
    ["https://[::1]/", "must not lead to a private address"],
    ["https://[::ffff:7f00:1]/", "must not lead to a private address"],
    ["https://[64:ff9b::a9fe:a9fe]/", "must not lead to a private address"],
    ["https://169.254.169.254/latest/meta-data", "must not lead to a private address"],
    ["http://127.0.0.1:4000/", "must be https"],
    ["https://①②⑦.⓪.⓪.①/", "must not lead to a private address"],
  ])("%s: %s", (url, expected) => {
    expect(findUrlProblem(url, NO_LOOPBACK)).toBe(expected);
  });

  test("by what its name leads to, if one of its addresses is private", async () => {
    const problem = async (addresses: readonly string[]) =>
      (await findTargetProblem("url", "https://hooks.example.com/", { loopback: false, resolve: async () => addresses }))?.reason;
    expect(await problem(["93.184.216.34"])).toBeUndefined();
    expect(await problem(["93.184.216.34", "10.0.0.1"])).toBe("must not lead to a private address");
    expect(await problem(["::ffff:10.0.0.1"])).toBe("must not lead to a private address");
    expect(await problem([])).toBe("does not resolve");
  });

  test("loopback is a receiver only where it is allowed, by two names and without TLS", () => {
    const loopback = { loopback: true };
    expect(findUrlProblem("http://127.0.0.1:4000/", loopback)).toBeUndefined();
    expect(findUrlProblem("http://localhost:4000/", loopback)).toBeUndefined();
    expect(findUrlProblem("http://127.0.0.2:4000/", loopback)).toBe("must be https");
    expect(findUrlProblem("http://10.0.0.1:4000/", loopback)).toBe("must be https");
  });
});

test("a name that changes between the check and the connection leads nowhere", async () => {
  let hits = 0;
  const port = await serve((_, response) => {
    hits++;
    response.end();
  });
  const answers = [["93.184.216.34"], ["127.0.0.1"]];
  const resolve: Resolve = async () => answers.shift() ?? ["127.0.0.1"];
  const url = "https://rebinding.example.com:8443/";
  expect(await findTargetProblem("url", url, { loopback: false, resolve })).toBeUndefined();
  await expect(send(url, { loopback: false, resolve })).rejects.toThrow("The name leads to a private address");
  await expect(send(`http://127.0.0.1:${port}/`, { loopback: false })).rejects.toMatchObject({
    message: "The URL must be https",
    reason: { code: "receiver_url", parameters: { why: "must be https", why_code: "field_https" } },
  });
  expect(hits).toBe(0);
});

describe("a receiver that", () => {
  test("responds is read to its first 4 KB", async () => {
    const port = await serve((_, response) => void response.writeHead(201).end("x".repeat(100_000)));
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 201, excerpt: "x".repeat(4_096) });
  });

  test("redirects is not followed", async () => {
    let hits = 0;
    const other = await serve((_, response) => {
      hits++;
      response.end();
    });
    const port = await serve((_, response) => void response.writeHead(307, { location: `http://127.0.0.1:${other}/` }).end());
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 307 });
    expect(hits).toBe(0);
  });

  test("is silent times out", async () => {
    const port = await portOf(createTcpServer(() => undefined));
    const began = Date.now();
    const error = await send(`http://127.0.0.1:${port}/`, { timeoutMs: 300 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OutboundError);
    expect(error).toMatchObject({ timedOut: true });
    expect(Date.now() - began).toBeLessThan(5_000);
  });

  test("drips its headers times out", async () => {
    const tcp = createTcpServer((socket) => {
      socket.on("error", () => undefined);
      const timer = setInterval(() => socket.write("H"), 50);
      socket.on("close", () => clearInterval(timer));
    });
    await expect(send(`http://127.0.0.1:${await portOf(tcp)}/`, { timeoutMs: 400 })).rejects.toThrow(OutboundError);
  });

  test("never ends its body has responded", async () => {
    const port = await serve((_, response) => {
      const timer = setInterval(() => response.write("."), 20);
      response.on("close", () => clearInterval(timer));
    });
    expect(await send(`http://127.0.0.1:${port}/`, { timeoutMs: 8_000 })).toMatchObject({ status: 200 });
  });

  test("sends an inflating body is not inflated", async () => {
    const port = await serve(
      (_, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(Buffer.alloc(50_000, 1)),
    );
    expect((await send(`http://127.0.0.1:${port}/`)).excerpt).toHaveLength(4_096);
  });

  test("closes or speaks no HTTP fails in words", async () => {
    const closing = await portOf(createTcpServer((socket) => socket.destroy()));
    const nonsense = await portOf(createTcpServer((socket) => void socket.on("error", () => undefined).end("nonsense\r\n\r\n")));
    await expect(send(`http://127.0.0.1:${closing}/`)).rejects.toThrow("The connection was closed before a response");
    await expect(send(`http://127.0.0.1:${nonsense}/`)).rejects.toThrow("The response is not HTTP");
  });
});

describe("a response that is of use only as a whole", () => {
  const fetchWhole = (port: number, timeoutMs = 5_000) =>
    request({ url: `http://127.0.0.1:${port}/`, headers: {}, timeoutMs, keepBytes: 100, mustBeWhole: true }, { loopback: true });

  test("is fetched, however slowly it comes", async () => {
    const port = await serve(({ method }, response) => {
      response.write(`${method} `);
      setTimeout(() => response.end("done"), 1_500); // longer than a receiver's body is waited for
    });
    expect(await fetchWhole(port)).toMatchObject({ status: 200, excerpt: "GET done" });
  });

  test("is an error if it is too long, or does not end in time", async () => {
    const long = await serve((_, response) => void response.end("x".repeat(101)));
    await expect(fetchWhole(long)).rejects.toThrow("The response is too long");
    const endless = await serve((_, response) => {
      const timer = setInterval(() => response.write("."), 50);
      response.on("close", () => clearInterval(timer));
    });
    await expect(fetchWhole(endless, 400)).rejects.toThrow("No response within 0.4 s");
  });
});
