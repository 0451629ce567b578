// Clients that are slow or pause: the ERP's workers must not wait for them, and nobody else may notice them.
// slow-clients-at-size.ts has the sizes and times of real ones.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { BackedUp, Chain } from "./context.ts";
import { fetchPage } from "./erp.ts";
import { creation, head, open, receive, send } from "./slowly.ts";

const MB = 1000 ** 2;
/** The ERP's own patience with a socket was 2 s. */
const PAUSE_SECONDS = 6;
const UPLOAD = { bytes: 20 * MB, pace: { bytesPerSecond: 4 * MB, pauseSeconds: PAUSE_SECONDS } };
const DOWNLOAD = { bytes: 60 * MB, pace: { bytesPerSecond: 6 * MB, pauseSeconds: PAUSE_SECONDS } };
const CLIENTS = { count: 120, bytes: 2 * MB };
const PAGE_SECONDS_MAX = 3;

export async function slowClients({ machine, guarantee, siteOf }: Chain, { shop, erp }: BackedUp): Promise<void> {
  const site = siteOf(shop.domain);

  await guarantee("a slow upload that pauses arrives whole", async () => {
    const file = randomBytes(UPLOAD.bytes);
    const socket = await open(site);
    await send(socket, creation(site, erp.cookie, file), UPLOAD.pace);
    const [id] = z.object({ result: z.tuple([z.number()]) }).parse(JSON.parse(String(await receive(socket)))).result;
    assert.deepEqual(await erp.file(id), file);
  });

  await guarantee("a slow download that pauses arrives whole", async () => {
    const file = randomBytes(DOWNLOAD.bytes);
    const id = await erp.create("ir.attachment", { name: "large.bin", datas: file.toString("base64") });
    const socket = await open(site);
    socket.write(head("GET", `/web/content/${id}`, site, erp.cookie));
    assert.deepEqual(await receive(socket, DOWNLOAD.pace), file);
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
