// A user's second factor as it is stored, with what checks it.
import * as z from "zod";
import * as fields from "../../api/fields.ts";
import type { FactorType } from "../../api/second-factors.ts";
import { openEnum } from "../../data/stored.ts";
import { bytes, counter, maybeText, noText, text } from "./fields.ts";

export const FactorRecord = z.object({
  id: fields.id("second_factor"),
  type: openEnum<FactorType>(),
  name: text,
  created_at: fields.timestamp,
  last_used_at: noText,
  /** Authenticator apps only; encrypted. */
  secret: maybeText,
  /** The step whose code was last used: each counts once. */
  last_step: counter,
  /** Passkeys only; as WebAuthn defines them. */
  credential_id: maybeText,
  public_key: bytes.optional(),
  counter,
  transports: z.array(text).default([]),
});
export type FactorRecord = z.infer<typeof FactorRecord>;
