// Requests whose clients are slow: they send and read at a speed, with pauses.
import assert from "node:assert/strict";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type TLSSocket } from "node:tls";
import * as z from "zod";
import type { Site } from "./erp.ts";

export interface Pace {
  bytesPerSecond: number;
  /** The length of the only pause, which comes in the middle of what is sent, or after the first second of what is read. */
  pauseSeconds?: number;
}

export async function open({ domain, authority }: Site): Promise<TLSSocket> {
  const socket = connect({ host: "127.0.0.1", port: 443, servername: domain, ca: authority, ALPNProtocols: ["http/1.1"] });
  await once(socket, "secureConnect");
  socket.on("error", () => undefined); // whoever reads finds out that something is missing
  return socket;
}

export function head(method: string, path: string, { domain }: Site, cookie: string, more: readonly string[] = []): string {
  return [`${method} ${path} HTTP/1.1`, `Host: ${domain}`, `Cookie: ${cookie}`, "Connection: close", ...more, "", ""].join(
    "\r\n",
  );
}

/** The request that creates an attachment, as a program sends it. */
export function creation(site: Site, cookie: string, file: Buffer): Buffer {
  const values = { name: "uploaded.bin", datas: file.toString("base64") };
  const params = { model: "ir.attachment", method: "create", args: [[values]], kwargs: {} };
  const body = JSON.stringify({ jsonrpc: "2.0", method: "call", params });
  const more = ["Content-Type: application/json", `Content-Length: ${body.length}`];
  return Buffer.from(head("POST", "/web/dataset/call_kw/ir.attachment/create", site, cookie, more) + body);
}

export async function send(socket: TLSSocket, bytes: Buffer, { bytesPerSecond, pauseSeconds = 0 }: Pace): Promise<void> {
  const began = performance.now();
  const step = Math.ceil(bytesPerSecond / 10);
  let pausedMs = 0;
  for (let sent = 0; sent < bytes.length; sent += step) {
    socket.write(bytes.subarray(sent, sent + step));
    if (pausedMs === 0 && sent >= bytes.length / 2) {
      pausedMs = pauseSeconds * 1000;
      await sleep(pausedMs);
    }
    await sleep(Math.max(0, pausedMs + ((sent + step) / bytesPerSecond) * 1000 - (performance.now() - began)));
  }
}

/** The body of the response. */
export async function receive(
  socket: TLSSocket,
  { bytesPerSecond, pauseSeconds = 0 }: Pace = { bytesPerSecond: Infinity },
): Promise<Buffer> {
  const began = performance.now();
  const chunks: Buffer[] = [];
  let received = 0;
  let pausedMs = 0;
  for await (const chunk of socket) {
    const bytes = z.instanceof(Buffer).parse(chunk);
    chunks.push(bytes);
    received += bytes.length;
    if (pausedMs === 0 && received >= bytesPerSecond) {
      pausedMs = pauseSeconds * 1000;
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
