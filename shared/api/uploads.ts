// Uploads: archives that are moved in, in parts that go straight to the storage.
import * as z from "zod";
import { exampleId } from "../domain/id-kinds.ts";
import { DEFAULT_QUOTAS, UPLOAD } from "../domain/limits.ts";
import { Backup } from "./backups.ts";
import { endpoint } from "./endpoint.ts";
import { overQuota, serverNotActive, serverTriesAnother, tooManyUploads, uploadIncomplete } from "./errors.ts";
import * as fields from "./fields.ts";

const SHA256 = /^[0-9a-f]{64}$/;
const sha256 = z
  .string()
  .regex(SHA256, "must be a SHA-256 in lowercase hexadecimal")
  .meta({ examples: ["9f86d081884c7d65".repeat(4)], maxLength: 64 });

const size = z.number().int("must be a whole number").min(1, "must be at least 1");
const sizeBytes = size
  .max(UPLOAD.bytesMax, `must be at most ${UPLOAD.bytesMax}`)
  .meta({ description: "Size of the archive in bytes", examples: [18_432] });

const PARTS_MAX = Math.ceil(UPLOAD.bytesMax / UPLOAD.partBytes);
const partNumber = z
  .number()
  .int("must be a whole number")
  .min(1, "must be at least 1")
  .max(PARTS_MAX, `must be at most ${PARTS_MAX}`)
  .meta({ description: "Counts from 1", examples: [1] });

export const Upload = z
  .object({
    id: fields.id("upload"),
    size_bytes: sizeBytes,
    part_size: z
      .number()
      .int()
      .meta({ description: "Size of each part in bytes; the last one is what is left", examples: [UPLOAD.partBytes] }),
    note: z
      .string()
      .nullable()
      .meta({ examples: ["from our old server"] }),
    file_name: z
      .string()
      .nullable()
      .meta({ examples: ["shop_2026-11-20.zip"] }),
    parts: z
      .array(z.object({ number: partNumber, size_bytes: size.meta({ examples: [18_432] }), sha256 }))
      .meta({ description: "The parts that have arrived, in their order", examples: [[]] }),
    created_at: fields.timestamp,
    expires_at: fields.timestamp.meta({ description: "When the service removes an upload that is not completed" }),
  })
  .meta({ id: "Upload" });
export type Upload = z.infer<typeof Upload>;

/** What the error of one upload too many says of each that there is. */
export const UnfinishedUpload = Upload.pick({ id: true, size_bytes: true, note: true, created_at: true });
export type UnfinishedUpload = z.infer<typeof UnfinishedUpload>;

const PartAddress = z.object({
  number: partNumber,
  url: z.string().meta({
    description: "Presigned: send the part here with PUT, without a token",
    examples: ["https://storage.example.com/…"],
  }),
  headers: z.record(z.string(), z.string()).meta({
    description: "Send these headers, too",
    examples: [{ "x-amz-checksum-sha256": "n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=" }],
  }),
});

export const create = () =>
  endpoint({
    method: "POST",
    path: "/backups/uploads",
    summary: "Begin to upload an archive",
    description:
      "For an archive in the ERP's own zip format, from wherever it was made. Send it in parts of `part_size` bytes, each to an address of its own, then complete the upload. " +
      `It expires after ${UPLOAD.days} days. An account may have ${UPLOAD.atOnce} unfinished uploads. In the test environment an archive must come from a sandbox, and have at most ${UPLOAD.testBytesMax} bytes.`,
    access: ["backups:write"],
    status: 201,
    errors: () => [
      tooManyUploads(UPLOAD.atOnce, [
        { id: exampleId("upload"), size_bytes: 18_432, note: "from our old server", created_at: "2026-11-20T12:00:00.000Z" },
      ]),
      overQuota("backup_bytes", DEFAULT_QUOTAS.backup_bytes),
    ],
    body: z.strictObject({
      size_bytes: sizeBytes,
      note: fields.text(200, "from our old server").optional(),
      file_name: fields.text(255, "shop_2026-11-20.zip").optional(),
    }),
    data: Upload,
  });

export const get = () =>
  endpoint({
    method: "GET",
    path: "/backups/uploads/:id",
    summary: "Show an upload",
    description: "Lists the parts that have arrived, so that you can resume an upload with the missing ones.",
    access: ["backups:read"],
    unversioned: [],
    data: Upload,
  });

export const parts = () =>
  endpoint({
    method: "POST",
    path: "/backups/uploads/:id/parts",
    summary: "Get addresses for parts of an upload",
    description:
      `Returns an address for each part, good for up to ${UPLOAD.addressMinutes} minutes. The storage accepts only the part with this SHA-256, in its full size. ` +
      "If a part is sent twice, the last one counts. An address may stop working earlier (403, or 400 `ExpiredToken`): ask for a new one. " +
      "Addresses are not stored, so a retry with an `Idempotency-Key` gets new ones.",
    access: ["backups:write"],
    storesResponse: false,
    body: z.strictObject({
      parts: z
        .array(z.strictObject({ number: partNumber, sha256 }))
        .min(1, "must not be empty")
        .max(UPLOAD.partsAtOnce, `must have at most ${UPLOAD.partsAtOnce} entries`)
        .meta({ examples: [[{ number: 1, sha256: "9f86d081884c7d65".repeat(4) }]] }),
    }),
    data: z.object({
      parts: z.array(PartAddress),
      expires_at: fields.timestamp.meta({ description: "When the addresses stop working at the latest" }),
    }),
  });

export const complete = () =>
  endpoint({
    method: "POST",
    path: "/backups/uploads/:id/complete",
    summary: "Complete an upload, which makes it a backup",
    description:
      "Responds immediately with a backup of kind `uploaded`, which has no instance. The server examines the archive in containers without a network, as something that may be hostile: its SHA-256, its layout, its manifest, " +
      "its version, and whether its database can be restored. Then you can create an instance from it. A server examines one archive at a time. The upload is gone once it is completed.",
    access: ["backups:write"],
    status: 201,
    errors: () => [
      uploadIncomplete([2]),
      serverTriesAnother(exampleId("operation")),
      serverNotActive(exampleId("server"), "offline"),
      overQuota("backup", DEFAULT_QUOTAS.backup),
    ],
    example: {
      kind: "uploaded",
      status: "pending",
      instance_id: null,
      instance_name: null,
      erp_version: null,
      edition: null,
      database_name: null,
      operation_id: exampleId("operation"),
      size_bytes: null,
      sha256: null,
      completed_at: null,
    },
    starts: ["import-backup"],
    body: z.strictObject({
      sha256: sha256.meta({ description: "SHA-256 of the whole archive, in hexadecimal" }),
      server_id: fields.id("server").meta({ description: "The server that examines the archive" }),
    }),
    data: Backup,
  });

const deleteOne = () =>
  endpoint({
    method: "DELETE",
    path: "/backups/uploads/:id",
    summary: "Abort an upload",
    description: "Removes the parts that have arrived. Their addresses no longer work.",
    access: ["backups:write"],
    data: fields.deleted("upload"),
  });
export { deleteOne as delete };
