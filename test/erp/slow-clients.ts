// Clients that are slow or pause: the ERP's workers must not wait for them, and nobody else may notice them.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type TLSSocket } from "node:tls";
import * as z from "zod";
import type { BackedUp, Chain } from "./context.ts";
import { fetchPage, type Site } from "./erp.ts";

const MB = 1000 ** 2;
/** The ERP's own patience with a socket was 2 s. */
const PAUSE_SECONDS = 6;
const UPLOAD = { bytes: 20 * MB, bytesPerSecond: 4 * MB };
const DOWNLOAD = { bytes: 60 * MB, bytesPerSecond: 6 * MB };
const CLIENTS = { count: 120, bytes: 2 * MB };
const PAGE_SECONDS_MAX = 3;

export async function slowClients({ machine, guarantee, siteOf }: Chain, { shop, erp }: BackedUp): Promise<void> {
  const site = siteOf(shop.domain);

  await guarantee("a slow upload that pauses arrives whole", async () => {
    const file = randomBytes(UPLOAD.bytes);
    const socket = await open(site);
    await send(socket, creation(site, erp.cookie, file), UPLOAD.bytesPerSecond);
    const [id] = z.object({ result: z.tuple([z.number()]) }).parse(JSON.parse(String(await receive(socket)))).result;
    assert.deepEqual(await erp.file(id), file);
  });

  await guarantee("a slow download that pauses arrives whole", async () => {
    const file = randomBytes(DOWNLOAD.bytes);
    const id = await erp.create("ir.attachment", { name: "large.bin", datas: file.toString("base64") });
    const socket = await open(site);
    socket.write(head("GET", `/web/content/${id}`, site, erp.cookie));
    assert.deepEqual(await receive(socket, DOWNLOAD.bytesPerSecond), file);
  });

  await guarantee("an upload that is larger than the ERP accepts gets an error that says so", async () => {
    const { status, body } = await fetchPage(site, "/web/login", { headers: { "content-length": String(200 * MB) }, body: {} });
    assert.equal(status, 413);
    assert.match(body.toString(), /this ERP accepts 128 MB/);
  });

  await guarantee("while many clients pause in the middle of an upload, pages come as fast as before", async () => {
    const sockets = await Promise.all(Array.from({ length: CLIENTS.count }, () => open(site)));
    const request = creation(site, erp.cookie, randomBytes(CLIENTS.bytes));
    try {
      for (const socket of sockets) socket.write(request.subarray(0, request.length / 2));
      await sleep(PAUSE_SECONDS * 1000);
      for (let page = 0; page < 5; page += 1) {
        const began = performance.now();
        assert.equal((await fetchPage(site, "/web/login")).status, 200);
        const seconds = (performance.now() - began) / 1000;
        assert(seconds < PAGE_SECONDS_MAX, `${seconds} s`);
      }
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });

  await guarantee("whoever fills an ERP's buffer fills a file system of a fixed size", async () => {
    const inBuffer = (command: string): string => machine.docker("exec", `erp-${shop.id}-buffer`, "sh", "-c", command);
    assert.match(inBuffer("dd if=/dev/zero of=/buffer/full bs=1M 2>&1 || true"), /No space left on device/);
    assert.equal((await fetchPage(site, "/web/login")).status, 200);
    inBuffer("rm /buffer/full");
    assert.throws(() => inBuffer("touch /etc/buffer/x /x"), /Read-only file system/);
  });
}

async function open({ domain, authority }: Site): Promise<TLSSocket> {
  const socket = connect({ host: "127.0.0.1", port: 443, servername: domain, ca: authority, ALPNProtocols: ["http/1.1"] });
  await once(socket, "secureConnect");
  socket.on("error", () => undefined); // whoever reads finds out that something is missing
  return socket;
}

function head(method: string, path: string, { domain }: Site, cookie: string, more: readonly string[] = []): string {
  return [`${method} ${path} HTTP/1.1`, `Host: ${domain}`, `Cookie: ${cookie}`, "Connection: close", ...more, "", ""].join(
    "\r\n",
  );
}

/** The request that creates an attachment. */
function creation(site: Site, cookie: string, file: Buffer): Buffer {
  const values = { name: "uploaded.bin", datas: file.toString("base64") };
  const params = { model: "ir.attachment", method: "create", args: [[values]], kwargs: {} };
  const body = JSON.stringify({ jsonrpc: "2.0", method: "call", params });
  const more = ["Content-Type: application/json", `Content-Length: ${body.length}`];
  return Buffer.from(head("POST", "/web/dataset/call_kw/ir.attachment/create", site, cookie, more) + body);
}

/** With a pause in the middle. */
async function send(socket: TLSSocket, bytes: Buffer, bytesPerSecond: number): Promise<void> {
  const step = Math.ceil(bytesPerSecond / 10);
  let paused = false;
  for (let sent = 0; sent < bytes.length; sent += step) {
    socket.write(bytes.subarray(sent, sent + step));
    if (!paused && sent >= bytes.length / 2) {
      paused = true;
      await sleep(PAUSE_SECONDS * 1000);
    }
    await sleep(100);
  }
}

/** The body of the response; with a speed, not faster, and with a pause after the first tenth. */
async function receive(socket: TLSSocket, bytesPerSecond = Infinity): Promise<Buffer> {
  const began = performance.now();
  const chunks: Buffer[] = [];
  let received = 0;
  let pausedMs = 0;
  for await (const chunk of socket) {
    const bytes = z.instanceof(Buffer).parse(chunk);
    chunks.push(bytes);
    received += bytes.length;
    if (pausedMs === 0 && bytesPerSecond < Infinity && received >= bytesPerSecond) {
      pausedMs = PAUSE_SECONDS * 1000;
      await sleep(pausedMs);
    }
    const early = pausedMs + (received / bytesPerSecond) * 1000 - (performance.now() - began);
    if (early > 50) await sleep(early);
  }
  const all = Buffer.concat(chunks);
  const end = all.indexOf("\r\n\r\n");
  assert.match(all.subarray(0, end).toString(), /^HTTP\/1\.1 200 /);
  return all.subarray(end + 4);
}
