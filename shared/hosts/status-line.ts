// The line in which a machine's timer says which of its ERPs cannot be used (script/watch.sh).
import { createHmac, timingSafeEqual } from "node:crypto";
import * as z from "zod";
import type { StatusKey } from "../platform/service-key.ts";
import type { StatusLine } from "./host.ts";

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
  .transform(([instance_id, what, looks]) => ({ instance_id, what, looks }));

/** Undefined if it is none, or another server's, or forged. Whether it is a new one is for the caller to see. */
export function parseStatusLine(text: string, serverId: string, { key }: StatusKey): StatusLine | undefined {
  const { signed = "", server, sequence, faults = "", hmac = "" } = LINE.exec(text)?.groups ?? {};
  const own = createHmac("sha256", key).update(signed).digest();
  if (server !== serverId || !timingSafeEqual(own, Buffer.from(hmac.padEnd(64, "0"), "hex"))) return undefined;
  const parsed = z.array(Fault).safeParse(faults === "-" ? [] : faults.split(","));
  return parsed.success ? { sequence: Number(sequence), faults: parsed.data } : undefined;
}
