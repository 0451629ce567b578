// What a server's machine last reported, as it is stored.
import * as z from "zod";
import { text, textOrNull, noText, count } from "./fields.ts";

/** What the proxy of a machine has for an instance's domain. */
const ReportedCertificate = z.object({
  domain: text,
  /** Null if there is none. */
  expires_at: textOrNull,
  /** The last attempt to get or renew it failed, or it is for another domain. */
  failing: z.boolean(),
});

export type ReportedCertificate = z.infer<typeof ReportedCertificate>;

/** What an instance uses of its machine's disk, what it may use, and whether the machine has paused it. */
const ReportedUse = z.object({
  used_bytes: count,
  /** The quota as far as the machine knows it. */
  quota_bytes: count.nullable(),
  paused: z.boolean(),
  /** The ERP's image; older scripts don't report it. */
  image: z.object({ id: text, created_at: textOrNull }).nullish(),
});

export type ReportedUse = z.infer<typeof ReportedUse>;

/** What a server's machine last reported about itself. Like the item above it is in no index. */
export const HostReport = z.object({
  disk_free_bytes: count,
  memory_free_bytes: count,
  reported_at: text,
  /** The certificates by the instance's ID. */
  certificates: z.record(text, ReportedCertificate).default({}),
  /** The time when the certificates were reported, which the rest may be without; null if they never were. */
  certificates_at: noText,
  disk_size_bytes: count.nullable().default(null),
  needs_reboot: z.boolean().nullable().default(null),
  /** The uses by the instance's ID. */
  uses: z.record(text, ReportedUse).default({}),
  /** The step of free disk space, in percent, at which the account's overview counts the server. */
  disk_shown: count.nullable().default(null),
  /** What the instances say in their reasons about their use of the disk, by the instance's ID: the reason's code. */
  explained: z.record(text, text).default({}),
  /** The images that were last compared with the newest ones, by the instance's ID, and which those were. */
  judged_images: z.object({ newest: text, images: z.record(text, text) }).default({ newest: "", images: {} }),
  /** The instances whose certificates were failing when events last said so. */
  failing_certificates: z.array(text).default([]),
});

export type HostReport = z.infer<typeof HostReport>;
