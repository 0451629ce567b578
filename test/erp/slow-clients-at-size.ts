// Slow clients in the sizes and times of real ones, with a neighbor on the same machine: six minutes, so only by name.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { availableParallelism, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import * as z from "zod";
import { type BackedUp, type Chain, OWN_PASSWORD } from "./context.ts";
import { fetchPage, type Site } from "./erp.ts";
import { creation, head, open, type Pace, receive, send } from "./slowly.ts";

const [KB, MB] = [1000, 1000 ** 2];
const MINUTES = 5;
const PAUSE_SECONDS = 30;
const FAST = { bytesPerSecond: 600 * KB };
const UPLOAD = { bytes: 100 * MB, pace: { ...FAST, pauseSeconds: PAUSE_SECONDS } };
const DOWNLOAD = { bytes: 200 * MB, pace: { ...FAST, pauseSeconds: PAUSE_SECONDS } };
const SLOW = { bytesPerSecond: 50 * KB, pauseSeconds: PAUSE_SECONDS };
const SLOW_BYTES = SLOW.bytesPerSecond * MINUTES * 60;
/** Half of them upload, half of them download, each as long as the slow ones. */
const CLIENTS = { count: 360, bytes: 2 * MB, pace: { bytesPerSecond: (2 * MB) / (MINUTES * 60), pauseSeconds: PAUSE_SECONDS } };
const PAGE_SECONDS_MAX = 3;
const QUIET_SECONDS = 30;
/** So many of the slowest pages are printed: one alone may be an accident. */
const SHOWN = 5;

/** An attachment in the ERP's files, of any size. Prints its ID and the file's SHA-256. */
const placed = (database: string, bytes: number): string => `
import hashlib, os
from odoo.tools import config
config.parse_config(["-c", "/etc/odoo/odoo.conf"])
from odoo.sql_db import db_connect
data = os.urandom(${bytes})
sum = hashlib.sha1(data).hexdigest()
path = config.filestore("${database}") + f"/{sum[:2]}/{sum}"
os.makedirs(os.path.dirname(path), exist_ok=True)
open(path, "wb").write(data)
with db_connect("${database}").cursor() as cursor:
    cursor.execute("insert into ir_attachment (name, type, store_fname, checksum, file_size) values ('placed.bin', 'binary', %s, %s, %s) returning id", (f"{sum[:2]}/{sum}", sum, len(data)))
    print(cursor.fetchone()[0], hashlib.sha256(data).hexdigest())`;

export async function slowClientsAtSize(
  { machine, client, guarantee, succeeds, siteOf, instanceOf, enter }: Chain,
  { shop, erp, backup }: BackedUp,
): Promise<void> {
  const site = siteOf(shop.domain);
  const place = (bytes: number): { id: number; sha256: string } => {
    const python = ["exec", `erp-${shop.id}`, "/usr/bin/python3", "-c", placed(shop.database_name, bytes)];
    const [id, sha256 = ""] = machine
      .docker(...python)
      .trim()
      .split(" ");
    return { id: Number(id), sha256 };
  };

  const download = async ({ id, sha256 }: { id: number; sha256: string }, pace: Pace): Promise<void> => {
    const socket = await open(site);
    socket.write(head("GET", `/web/content/${id}`, site, erp.cookie));
    assert.equal(sha256Of(await receive(socket, pace)), sha256);
  };

  /** Uploads a file as a browser sends it. */
  const upload = async (file: Buffer, pace: Pace): Promise<void> => {
    const socket = await open(site);
    await send(socket, form(site, erp.cookie, await csrfToken(), file), pace);
    const [{ id }] = z.tuple([z.object({ id: z.number() })]).parse(JSON.parse(String(await receive(socket))));
    assert.equal(sha256Of((await erp.file(id)) ?? Buffer.alloc(0)), sha256Of(file));
    await erp.remove("ir.attachment", [id]);
  };

  const create = async (file: Buffer, pace: Pace): Promise<void> => {
    const socket = await open(site);
    await send(socket, creation(site, erp.cookie, file), pace);
    const { result } = z.object({ result: z.tuple([z.number()]) }).parse(JSON.parse(String(await receive(socket))));
    await erp.remove("ir.attachment", result);
  };

  async function csrfToken(): Promise<string> {
    const page = await fetchPage(site, "/web/login", { headers: { cookie: erp.cookie } });
    const [, token] = /name="csrf_token" value="([^"]+)"/.exec(page.body.toString()) ?? [];
    assert(token, "the sign-in page has no token for forms");
    return token;
  }

  const neighbor = await guarantee("a neighbor is created", async () => {
    const { data } = await client.instances.clone({
      params: { id: shop.id },
      body: { name: "Neighbor", domain: "neighbor.example.com", backup_id: backup.id, admin_password: OWN_PASSWORD },
    });
    await succeeds(data.operation_id);
    return instanceOf(data.id);
  });
  await enter(neighbor, OWN_PASSWORD);

  await guarantee(
    `${CLIENTS.count} slow clients, a large upload and a large download arrive whole, and nobody waits longer for a page`,
    async () => {
      const pages = { "the ERP's page": site, "the neighbor's page": siteOf(neighbor.domain) };
      const before = await timed(pages, sleep(QUIET_SECONDS * 1000));
      const [large, slow, small] = [DOWNLOAD.bytes, SLOW_BYTES, CLIENTS.bytes].map(place);
      assert(large && slow && small);
      const file = randomBytes(CLIENTS.bytes * 0.7); // as long in base64 as what is downloaded
      const took = new Map<string, number>();
      const began = performance.now();
      const noted = async (name: string, work: Promise<unknown>): Promise<void> => {
        await work;
        took.set(name, (performance.now() - began) / 1000);
      };
      const work = Promise.all([
        noted("upload of 100 MB at 600 kB/s", upload(randomBytes(UPLOAD.bytes), UPLOAD.pace)),
        noted("download of 200 MB at 600 kB/s", download(large, DOWNLOAD.pace)),
        noted("upload at 50 kB/s for 5 min", upload(randomBytes(SLOW_BYTES), SLOW)),
        noted("download at 50 kB/s for 5 min", download(slow, SLOW)),
        noted(
          `${CLIENTS.count} clients`,
          Promise.all(
            Array.from({ length: CLIENTS.count }, async (_, index) => {
              await sleep(index * 150); // so that they do not all end at once, either
              await (index % 2 === 0 ? create(file, CLIENTS.pace) : download(small, CLIENTS.pace));
            }),
          ),
        ),
      ]);
      const [during, memory] = await Promise.all([
        timed(pages, work),
        peaks([`erp-${shop.id}-buffer`, "erp-caddy"], work, machine.environment),
      ]);
      await work;
      for (const [name, seconds] of took) console.log(`  ${name}: ${seconds.toFixed(0)} s`);
      for (const [name, times] of during) {
        const quiet = before.get(name) ?? [];
        console.log(
          `  ${name}: median ${median(times)} ms, slowest ${times
            .toSorted((a, b) => b - a)
            .slice(0, SHOWN)
            .map(Math.round)
            .join(", ")} ms; before ${median(quiet)} and ${slowest(quiet)} ms`,
        );
      }
      // All of it runs on this machine, the clients too: with other work beside it, pages take longer.
      console.log(`  load of the machine: ${loadavg()[1]?.toFixed(1)} on ${availableParallelism()} processors`);
      for (const [name, text] of memory) console.log(`  memory of ${name}: ${text} MB at most`);
      for (const [name, times] of during) assert(slowest(times) < PAGE_SECONDS_MAX * 1000, `${name} took ${slowest(times)} ms`);
      await erp.remove(
        "ir.attachment",
        [large, slow, small].map(({ id }) => id),
      );
    },
  );
  await succeeds((await client.instances.delete({ params: { id: neighbor.id } })).data.id);
}

const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

function form(site: Site, cookie: string, csrf_token: string, file: Buffer): Buffer {
  const boundary = `form-${randomBytes(8).toString("hex")}`;
  const fields = Object.entries({ csrf_token, model: "res.partner", id: "0" }).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const start = `--${boundary}\r\nContent-Disposition: form-data; name="ufile"; filename="large.bin"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(fields.join("") + start), file, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  const more = [`Content-Type: multipart/form-data; boundary=${boundary}`, `Content-Length: ${body.length}`];
  return Buffer.concat([Buffer.from(head("POST", "/web/binary/upload_attachment", site, cookie, more)), body]);
}

/** How many milliseconds each site's sign-in page takes, once a second until the work has ended. */
async function timed(sites: Readonly<Record<string, Site>>, work: Promise<unknown>): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>(Object.keys(sites).map((name) => [name, []]));
  await whileWorking(work, 1, async () => {
    for (const [name, site] of Object.entries(sites)) {
      const began = performance.now();
      assert.equal((await fetchPage(site, "/web/login")).status, 200);
      times.get(name)?.push(performance.now() - began);
    }
  });
  return times;
}

/** The most memory that each container had, in MB, by Docker's own figures. */
async function peaks(
  containers: readonly string[],
  work: Promise<unknown>,
  env: NodeJS.ProcessEnv,
): Promise<Map<string, number>> {
  const most = new Map<string, number>();
  const options = ["stats", "--no-stream", "--format", "{{.Name}} {{.MemUsage}}", ...containers];
  await whileWorking(work, 10, async () => {
    const { stdout } = await promisify(execFile)("docker", options, { env });
    for (const [, name = "", number = "0", unit] of stdout.matchAll(/^(\S+) ([\d.]+)(Ki|Mi|Gi)B/gm)) {
      const mb = Number(number) * (unit === "Gi" ? 1074 : unit === "Mi" ? 1.049 : 0.001);
      most.set(name, Math.max(most.get(name) ?? 0, Math.round(mb)));
    }
  });
  return most;
}

async function whileWorking(work: Promise<unknown>, everySeconds: number, look: () => Promise<void>): Promise<void> {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  void work.then(end, end);
  while (!ended.signal.aborted) {
    await look();
    await Promise.race([sleep(everySeconds * 1000), work.catch(() => undefined)]);
  }
}

const median = (times: readonly number[]): number =>
  Math.round(times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0);
const slowest = (times: readonly number[]): number => Math.round(Math.max(...times));
