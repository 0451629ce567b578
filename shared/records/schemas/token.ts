// A token as it is stored: what admits its requests, and what is shown of it.
import * as z from "zod";
import { Token } from "../../api/tokens.ts";
import { stored } from "../../data/stored.ts";
import { bytesOfId, idOfBytes, timeOfId } from "../../domain/ids.ts";
import { addressInText } from "../../domain/network.ts";
import { tokenIdFor } from "../../domain/token-value.ts";
import { noText, maybeCount, maybeText, bytes, slots } from "./fields.ts";

const [TIME_BYTES, ACCOUNT_BYTES, PERMISSION_BYTES] = [6, 16, 2] as const;

/** What admits a token's requests, and so is written by each of them: names are short, for all of it to be one write unit. */
export const TokenAccess = z
  .object({
    id: maybeText,
    account_id: maybeText,
    /**
     * A token with networks has this instead of the two and its permissions: the time in its id, the account's id and the bits,
     * one after the other. A version that does not know networks then cannot read the item, and rejects the token.
     */
    i: bytes.optional(),
    /** The networks that it works from; absent: from everywhere. */
    n: z.set(bytes).optional(),
    hash: bytes,
    /** A bit for each permission (`PERMISSION_BITS`). */
    permissions: z.number().optional(),
    /** Milliseconds since 1970; absent: never. */
    expires_at: z.number().optional(),
    /** The address from which it was last used, in bytes. */
    ip: bytes.nullable().default(null),
    /** The same in text, by an earlier version: each of the two writes one and removes, or does not know, the other. */
    last_used_ip: noText,
    all: slots,
    create_delete: slots,
  })
  .transform(({ i, n, ip, last_used_ip, ...access }, context) => {
    const { id, account_id, permissions } = i === undefined ? access : unpack(Buffer.from(i), access.hash);
    if (id === undefined || account_id === undefined || permissions === undefined) {
      context.issues.push({ code: "custom", message: "has no ids or no permissions", input: access });
      return z.NEVER;
    }
    return {
      ...access,
      id,
      account_id,
      permissions,
      networks: [...(n ?? [])],
      last_used_ip: last_used_ip ?? (ip && addressInText(ip)),
    };
  });

interface Facts {
  id: string;
  account_id: string;
  permissions: number;
}

/** Whose a token is and what it permits, as `TokenAccess` reads it, and its networks. */
export function storeAccess(facts: Facts, networks: readonly Uint8Array[]) {
  if (networks.length === 0) return facts;
  const packed = Buffer.alloc(TIME_BYTES + ACCOUNT_BYTES + PERMISSION_BYTES);
  packed.writeUIntBE(timeOfId(facts.id), 0, TIME_BYTES);
  packed.set(bytesOfId(facts.account_id), TIME_BYTES);
  packed.writeUIntBE(facts.permissions, TIME_BYTES + ACCOUNT_BYTES, PERMISSION_BYTES);
  return { i: packed, n: new Set(networks) };
}

function unpack(packed: Buffer, hash: Uint8Array): Facts {
  const account = packed.subarray(TIME_BYTES, TIME_BYTES + ACCOUNT_BYTES);
  return {
    id: tokenIdFor(hash, packed.readUIntBE(0, TIME_BYTES)),
    account_id: idOfBytes("account", account),
    permissions: packed.readUIntBE(TIME_BYTES + ACCOUNT_BYTES, PERMISSION_BYTES),
  };
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
  /** The expiry after a rotation, as `TokenAccess` has it: the version that a request sends covers it, too. */
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
