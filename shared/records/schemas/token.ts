// A token as it is stored: what admits its requests, and what is shown of it.
import * as z from "zod";
import { Token } from "../../api/tokens.ts";
import { stored } from "../../data/stored.ts";
import { bytesOfId, idOfBytes } from "../../domain/ids.ts";
import { addressInText } from "../../domain/network.ts";
import { noText, maybeCount, maybeText, bytes, slots } from "./fields.ts";

const ID_BYTES = 16;

/** What admits a token's requests, and so is written by each of them: names are short, for all of it to be one write unit. */
export const TokenAccess = z
  .object({
    id: maybeText,
    account_id: maybeText,
    /**
     * Of a token with networks, instead of the two: their bytes, one after the other. A version that does not know networks then
     * cannot read the item, and rejects the token.
     */
    i: bytes.optional(),
    /** The networks that it works from; absent: from everywhere. */
    n: z.set(bytes).optional(),
    hash: bytes,
    /** A bit for each permission (`PERMISSION_BITS`). */
    permissions: z.number(),
    /** Milliseconds since 1970; absent: never. */
    expires_at: z.number().optional(),
    /** Where it was last used, in bytes. */
    ip: bytes.nullable().default(null),
    /** The same in text, by an earlier version: each of the two writes one and removes, or does not know, the other. */
    last_used_ip: noText,
    all: slots,
    create_delete: slots,
  })
  .transform(({ i, n, ip, last_used_ip, ...access }, context) => {
    const id = i === undefined ? access.id : idOfBytes("token", i.subarray(0, ID_BYTES));
    const account_id = i === undefined ? access.account_id : idOfBytes("account", i.subarray(ID_BYTES));
    if (id === undefined || account_id === undefined) {
      context.issues.push({ code: "custom", message: "has no ids", input: access });
      return z.NEVER;
    }
    return { ...access, id, account_id, networks: [...(n ?? [])], last_used_ip: last_used_ip ?? (ip && addressInText(ip)) };
  });

/** The ids of a token's item, as `TokenAccess` reads them, and its networks. */
export function storeNetworks(ids: { id: string; account_id: string }, networks: readonly Uint8Array[]) {
  if (networks.length === 0) return ids;
  const { id, account_id } = ids;
  return { i: Buffer.concat([bytesOfId(id), bytesOfId(account_id)]), n: new Set(networks) };
}

export type TokenAccess = z.infer<typeof TokenAccess>;

/** What is only shown of a token. */
export const TokenLabel = stored(
  Token.pick({
    id: true,
    name: true,
    prefix: true,
    last4: true,
    created_at: true,
    created_by: true,
  }),
).extend({
  /** What no other token's name may look like; older tokens claimed their name as it is. */
  unique_name: maybeText,
  replaces: noText,
  replaced_by: noText,
  /** After a rotation, as `TokenAccess` has it: the version that a request sends covers it, too. */
  expires_at: maybeText,
  /** The step at which it was last said that it expires soon, in days before. */
  warned_days: maybeCount,
});

export interface TokenRecord extends Token {
  unique_name?: string | undefined;
  warned_days?: number | undefined;
  account_id: string;
  hash: Uint8Array;
}
