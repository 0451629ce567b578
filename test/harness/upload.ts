// Uploads by the real path: the addresses that the API gives, and the storage behind them.
import { createHash } from "node:crypto";
import * as z from "zod";
import { Backup } from "../../shared/api/backups.ts";
import * as uploads from "../../shared/api/uploads.ts";
import { Upload } from "../../shared/api/uploads.ts";
import { UPLOAD } from "../../shared/domain/limits.ts";
import type { TestAccount } from "./account.ts";
import type { Client } from "./client.ts";

export const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

export type Address = z.infer<ReturnType<typeof uploads.parts>["data"]>["parts"][number];

export async function addressesOf(api: Client, id: string, parts: { number: number; sha256: string }[]): Promise<Address[]> {
  return (await api.post(`/backups/uploads/${id}/parts`, { parts })).as(uploads.parts().data).parts;
}

/** Sends a part to its address; the storage's status. */
export const sendPart = async ({ url, headers }: Pick<Address, "url" | "headers">, bytes: Uint8Array): Promise<number> =>
  (await fetch(url, { method: "PUT", headers, body: Buffer.from(bytes) })).status;

/** Uploads a whole archive, and leaves its completion to the caller. */
export async function uploaded(api: Client, bytes: Uint8Array, fields: object = {}): Promise<Upload> {
  const upload = (await api.post("/backups/uploads", { size_bytes: bytes.length, ...fields })).as(Upload);
  const parts = Array.from({ length: Math.ceil(bytes.length / UPLOAD.partBytes) }, (_, index) =>
    bytes.subarray(index * UPLOAD.partBytes, (index + 1) * UPLOAD.partBytes),
  );
  const checksums = parts.map((part, index) => ({ number: index + 1, sha256: sha256Of(part) }));
  for (const address of await addressesOf(api, upload.id, checksums)) {
    const status = await sendPart(address, parts[address.number - 1] ?? new Uint8Array());
    if (status !== 200) throw new Error(`The storage responded ${status}`);
  }
  return upload;
}

/** The archive of a backup, as anyone with its download URL gets it. */
export async function downloaded(api: Client, backupId: string): Promise<Uint8Array> {
  const { url } = (await api.get(`/backups/${backupId}/download`)).as(z.object({ url: z.string() }));
  return new Uint8Array(await (await fetch(url)).arrayBuffer());
}

/** A completed backup of kind `uploaded`. */
export async function imported(me: TestAccount, bytes: Uint8Array, serverId: string): Promise<Backup> {
  const { api } = await me.token();
  const { id } = await uploaded(api, bytes);
  const body = { sha256: sha256Of(bytes), server_id: serverId };
  const backup = (await api.post(`/backups/uploads/${id}/complete`, body)).as(Backup);
  await me.until(backup.operation_id);
  return (await api.get(`/backups/${backup.id}`)).as(Backup);
}
