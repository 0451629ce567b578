// The line in which a machine's timer says which of its ERPs cannot be used (script/watch.sh): read over HTTP, and believed by
// its signature alone.
import { createHmac, timingSafeEqual } from "node:crypto";
import { get } from "node:http";
import * as z from "zod";
import { type StatusKey, statusKeys } from "../platform/service-key.ts";
import type { StatusLine } from "../operations/monitoring/health.ts";
import type { HostedServer } from "./host.ts";

/** The line of a server; undefined if there is none, or none of its own. Whether it is a new one is for the caller to see. */
export async function fetchStatusLine({ id, ip_address }: HostedServer): Promise<StatusLine | undefined> {
  if (ip_address === null) return undefined;
  for (const key of await statusKeys(id)) {
    const text = await read(ip_address, key.name);
    if (text === undefined) return undefined; // nobody listens, whatever the key
    const line = parseStatusLine(text, id, key);
    if (line !== undefined) return line;
  }
  return undefined;
}

/** A line that came another way than by HTTP. */
export async function readStatusLine(text: string, serverId: string): Promise<StatusLine | undefined> {
  const keys = await statusKeys(serverId);
  return keys.map((key) => parseStatusLine(text, serverId, key)).find((line) => line !== undefined);
}

const LINE =
  /^(?<signed>erp1 (?<server>[a-z0-9_]{1,50}) (?<sequence>\d{1,15}) (?<faults>-|[a-z0-9_:,]+)) (?<hmac>[0-9a-f]{64})\n$/;

const Fault = z
  .string()
  .transform((text) => text.split(":"))
  .pipe(
    z.tuple([
      z.string(),
      z.string(),
      z
        .string()
        .regex(/^[1-9]$/)
        .transform(Number),
    ]),
  )
  .transform(([instance_id, check, looks]) => ({ instance_id, check, looks }));

/** Says how many instances are paused, in the place of an instance: versions that do not know it find no such instance. */
const OF_DISK = "disk";

/** Undefined if it is another server's, or forged. */
export function parseStatusLine(text: string, serverId: string, { key }: StatusKey): StatusLine | undefined {
  const { signed = "", server, sequence, faults = "", hmac = "" } = LINE.exec(text)?.groups ?? {};
  const expectedHmac = createHmac("sha256", key).update(signed).digest();
  if (server !== serverId || !timingSafeEqual(expectedHmac, Buffer.from(hmac.padEnd(64, "0"), "hex"))) return undefined;
  const parsed = z.array(Fault).safeParse(faults === "-" ? [] : faults.split(","));
  if (!parsed.success) return undefined;
  const ofErps = parsed.data.filter(({ instance_id }) => instance_id !== OF_DISK);
  return { sequence: Number(sequence), faults: ofErps, paused: ofErps.length < parsed.data.length };
}

const READ_SECONDS = 5;
/** Those of 1,000 ERPs. */
const CHARACTERS_MAX = 64 * 1024;

/**
 * Whatever listens there: nothing is read but a short text, nothing is followed, and it ends in time. Empty if it is no such
 * text.
 */
async function read(host: string, name: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const request = get({ host, port: 80, path: `/${name}`, agent: false }, (response) => {
    let text = "";
    if (response.statusCode !== 200) return resolve("");
    response.setEncoding("latin1").on("data", (part: string) => {
      text += part;
      if (text.length > CHARACTERS_MAX) resolve("");
    });
    response.on("end", () => resolve(text)).on("error", () => resolve(""));
  });
  request.on("error", () => resolve(undefined));
  const timer = setTimeout(() => resolve(undefined), READ_SECONDS * 1000);
  return promise.finally(() => {
    clearTimeout(timer);
    request.destroy();
  });
}
