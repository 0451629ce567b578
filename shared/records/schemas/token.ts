// A token as it is stored: what admits its requests, and what is shown of it.
import * as z from "zod";
import { Token } from "../../api/tokens.ts";
import { stored } from "../../data/stored.ts";
import { text, noText, maybeCount, maybeText, bytes, slots } from "./fields.ts";

/** What admits a token's requests, and so is written by each of them. */
export const TokenAccess = z.object({
  id: text,
  account_id: text,
  hash: bytes,
  /** A bit for each permission (`PERMISSION_BITS`). */
  permissions: z.number(),
  /** Milliseconds since 1970; absent: never. */
  expires_at: z.number().optional(),
  last_used_ip: noText,
  all: slots,
  create_delete: slots,
});

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
